"""Review what newer statements ended or perhaps changed, and settle it by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, pairwise

from ingest.gate import Gate
from semantic_memory.application.lookup import one_fact
from semantic_memory.consolidation.beliefs import sides, told_apart
from semantic_memory.consolidation.restore import restoration
from semantic_memory.consolidation.superseding import superseded, unlinked
from semantic_memory.domain.changes import Add, Change, Evict, Update
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import CALLER, Category, Cause, Fact, FactVersion, Status
from semantic_memory.domain.filters import FACTS, NO_FILTERS, Filters
from semantic_memory.domain.origins import Origin
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.requests.review import (
    AcceptRequest,
    LabelsRequest,
    RejectRequest,
    RetiredRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed
from semantic_memory.domain.values import derived_id
from semantic_memory.retrieval.links import standing_links
from semantic_memory.retrieval.to_review import UNCONFIRMED, fallen_under, is_unconfirmed

_UNKNOWN = "unknown"
_ACCEPTED, _REJECTED = "accepted", "rejected"


class Review:
    """List retirements and links, undo the former, accept or reject the latter. Thread-safe.

    `cap` is the largest number of a user's facts.
    """

    def __init__(
        self,
        ledger: Ledger,
        gate: Gate,
        clock: Clock,
        expiry: Expiry,
        cap: int,
        changed: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._expiry = expiry
        self._cap = cap
        self._changed = changed

    def retired(self, asked: RetiredRequest) -> list[Retirement]:
        """Return the facts that rules and models ended, the latest decision first.

        What a person ended by hand isn't among them.
        """
        found = [
            one
            for one in self._retirements(asked.user_id)
            if (asked.since is None or one.cause.at >= asked.since)
            and (asked.until is None or one.cause.at < asked.until)
        ]
        return found[: asked.limit]

    def undo(self, asked: UndoRequest) -> list[Fact]:
        """Restore the facts that one decision ended, or those of a source or a day; return them.

        Each is kept apart permanently from what had ended it. What isn't retired any more is left
        as it is. Raises NotFoundError for an unknown decision.
        """
        user_id, reason = asked.user_id, self._gate.redacted(asked.reason)
        with self._ledger.exclusive(user_id):
            wanted = [fact.id for fact in self._meant(asked)]
            if asked.dry_run:
                return self._ledger.get(wanted, user_id)
            for fact_id in wanted:  # read again: the one before may have changed what it names
                fact = one_fact(self._ledger, fact_id, user_id)
                now = self._clock.now()
                back = restoration(self._ledger, fact, reason, now)
                self._ledger.apply([*back, Evict(user_id, self._cap, now, sparing=fact_id)])
        if wanted:
            self._changed(user_id)
        return self._ledger.get(wanted, user_id)

    def to_confirm(self, asked: ToConfirmRequest) -> list[Unconfirmed]:
        """Return links to newer statements, facts whose basis fell, and old preferences.

        The links come first, the latest before the others.
        """
        found = [*self._linked(asked.user_id)]
        found.sort(key=lambda one: (_at(one), one.fact.id), reverse=True)
        found += self._to_check(asked.user_id)
        old = self._unconfirmed(asked.user_id, {one.fact.id for one in found})
        return [*islice((*found, *old), asked.limit)]

    def accept(self, asked: AcceptRequest) -> Fact:
        """End a fact by the newer statement that perhaps changed it; return the fact.

        A message stays as it was said, and what it stated is kept as a fact that ended. Raises
        NotFoundError without such a link.
        """
        with self._ledger.exclusive(asked.user_id):
            older, newer, link = self._link(asked)
            now, reason = self._clock.now(), self._gate.redacted(asked.reason)
            cause = link.model_copy(
                update={
                    "decided_by": CALLER,
                    "reason": reason or link.reason,
                    "probability": None,
                    "at": now,
                }
            )
            changes: list[Change]
            if older.category is Category.CONVERSATION:
                told = superseded(_statement(older), newer, cause)
                changes = [Add(told), Update(unlinked(older, newer.id), _ACCEPTED, now, reason)]
            else:
                changes = [Update(superseded(older, newer, cause), _ACCEPTED, now, reason)]
            self._ledger.apply(changes)
        self._changed(asked.user_id)
        return one_fact(self._ledger, older.id, asked.user_id)

    def reject(self, asked: RejectRequest) -> Fact:
        """Keep a fact and the statement that perhaps changed it apart permanently; return the fact.

        Raises NotFoundError without such a link.
        """
        with self._ledger.exclusive(asked.user_id):
            older, newer, _ = self._link(asked)
            now, reason = self._clock.now(), self._gate.redacted(asked.reason)
            kept, others = told_apart(unlinked(older, newer.id), [*self._merged_into(newer)])
            self._ledger.apply(
                [
                    Update(kept, _REJECTED, now, reason),
                    *(Update(other, "told apart", now, reason) for other in others),
                ]
            )
        self._changed(asked.user_id)
        return one_fact(self._ledger, older.id, asked.user_id)

    def labels(self, asked: LabelsRequest) -> list[LabelledPair]:
        """Return the answers that were given by accepting, rejecting and restoring, as pairs."""
        user_id = asked.user_id
        judged = [
            fact
            for fact in self._ledger.get(self._ledger.ids(user_id), user_id)
            if sides(fact) or (fact.ended_by is not None and fact.ended_by.decided_by == CALLER)
        ]
        answers = [answer for fact in judged for answer in _answers(self._history(fact))]
        ids = {newer for _, newer, _ in answers}
        newer = {fact.id: fact.content for fact in self._ledger.get(sorted(ids), user_id)}
        return [
            LabelledPair(older=older, newer=newer[one], label=label)
            for older, one, label in answers
            if one in newer
        ]

    def _history(self, fact: Fact) -> list[FactVersion]:
        return self._ledger.history(fact.id, fact.user_id)

    def _retirements(self, user_id: str) -> list[Retirement]:
        unexpired = self._expiry.now
        facts = self._ledger.page(
            user_id, NO_FILTERS.unexpired(unexpired), status=Status.SUPERSEDED
        ).facts
        known = ((fact, fact.ended_by or self._earlier_cause(fact)) for fact in facts)
        causes = [(fact, cause) for fact, cause in known if cause and cause.decided_by != CALLER]
        newer = self._by_id(user_id, (cause for _, cause in causes))
        found = [
            Retirement(fact=fact, newer=newer.get(cause.newer or ""), cause=cause)
            for fact, cause in causes
        ]
        return sorted(found, key=lambda one: (one.cause.at, one.fact.id), reverse=True)

    def _earlier_cause(self, fact: Fact) -> Cause | None:
        """Return the cause of a retirement by a version of this package that kept none."""
        *_, last = self._history(fact)
        if last.action != "superseded":
            return None
        return Cause(newer=fact.superseded_by, decided_by=_UNKNOWN, reason=last.reason, at=last.at)

    def _meant(self, asked: UndoRequest) -> list[Fact]:
        if asked.decision is not None:
            fact = one_fact(self._ledger, asked.decision, asked.user_id, self._expiry.now)
            return [fact] if fact.superseded_by is not None else []
        found = self._retirements(asked.user_id)
        if asked.source is not None:
            origin = Origin.of(asked.source)
            return [one.fact for one in found if one.newer and origin.gave(one.newer)]
        return [one.fact for one in found if one.cause.at.date() == asked.day]

    def _linked(self, user_id: str) -> Iterator[Unconfirmed]:
        unexpired = self._expiry.now
        facts = [fact for fact in self._ledger.doubted(user_id) if unexpired.holds(fact)]
        facts = standing_links(facts, self._ledger, user_id)
        newer = self._by_id(user_id, (link for fact in facts for link in fact.perhaps_changed))
        for fact in facts:
            for link in fact.perhaps_changed:
                yield Unconfirmed(fact=fact, newer=newer.get(link.newer or ""), cause=link)

    def _unconfirmed(self, user_id: str, without: Iterable[str]) -> Iterator[Unconfirmed]:
        """Yield preferences that nobody has stated again for long, the oldest first."""
        before = self._clock.now() - UNCONFIRMED
        filters = Filters(categories=frozenset({Category.PREFERENCE}), until=before)
        found = self._ledger.page(user_id, filters.unexpired(self._expiry.now)).facts
        for fact in reversed(found):
            if is_unconfirmed(fact, self._clock.now()) and fact.id not in without:
                yield Unconfirmed(fact=fact)

    def _to_check(self, user_id: str) -> Iterator[Unconfirmed]:
        """Yield the facts that rest on one that no longer holds."""
        found = self._ledger.find(user_id, FACTS.unexpired(self._expiry.now))
        facts = [fact for fact in found if fact.bases]
        fallen = fallen_under(facts, self._ledger, user_id)
        for fact in facts:
            for base in dict.fromkeys(one for one in fact.bases if one in fallen):
                yield Unconfirmed(fact=fact, cause=_basis_fell(fact, base, fallen[base]))

    def _by_id(self, user_id: str, causes: Iterable[Cause]) -> Mapping[str, Fact]:
        ids = sorted({cause.newer for cause in causes if cause.newer})
        return {fact.id: fact for fact in self._ledger.get(ids, user_id)}

    def _link(self, asked: AcceptRequest | RejectRequest) -> tuple[Fact, Fact, Cause]:
        older = one_fact(self._ledger, asked.older, asked.user_id, self._expiry.now)
        links = {link.newer: link for link in older.perhaps_changed}
        if older.status is not Status.ACTIVE or asked.newer not in links:
            raise NotFoundError(
                f"memory {asked.older!r} has no link to {asked.newer!r}: `history.to_confirm` lists"
                " the links of active memories"
            )
        newer = one_fact(self._ledger, asked.newer, asked.user_id, self._expiry.now)
        return older, newer, links[asked.newer]

    def _merged_into(self, fact: Fact) -> Iterator[Fact]:
        """Yield a fact, and those that it was merged into."""
        seen = {fact.id}
        yield fact
        while fact.status is Status.ARCHIVED and fact.superseded_by not in (None, *seen):
            found = self._ledger.get([fact.superseded_by or ""], fact.user_id)
            if not found:
                return
            (fact,) = found
            seen.add(fact.id)
            yield fact


def _answers(states: Iterable[FactVersion]) -> Iterator[tuple[str, str, str]]:
    """Yield the answers that led from one state of a fact to the next, each with both sides.

    Those are the text of the fact and the id of the newer statement.
    """
    for before, after in pairwise(states):
        fact = before.fact
        linked = {link.newer for link in fact.perhaps_changed}
        match after.action:
            case "accepted" if after.fact.ended_by is not None:
                newer, label = after.fact.ended_by.newer, "over"
            case "rejected":
                left = {link.newer for link in after.fact.perhaps_changed}
                newer, label = next(iter(linked - left), None), "neither"
            case "restored" if fact.status is Status.SUPERSEDED:
                cause = fact.ended_by
                newer = fact.superseded_by if cause is None else cause.newer
                label = "neither"
            case _:
                continue
        if newer is not None:
            yield fact.content, newer, label


def _at(one: Unconfirmed) -> float:
    return 0.0 if one.cause is None else one.cause.at.timestamp()


def _basis_fell(fact: Fact, base: str, fallen: Fact) -> Cause:
    """Return why a fact is to be checked that rests on `base`, and by it on what has fallen."""
    ended = "was forgotten" if fallen.status is Status.FORGOTTEN else "was superseded"
    at = fallen.tombstone.at if fallen.tombstone else fallen.valid_to or fallen.recorded_at
    refers = base in fact.references
    which = fallen.id if fallen.id == base else f"{base}, which rests on {fallen.id}"
    return Cause(
        newer=fallen.superseded_by,
        decided_by="rules:references" if refers else "rules:reasons",
        reason=f"it {'refers to' if refers else 'rests on'} {which}, which {ended}",
        at=at,
    )


def _statement(message: Fact) -> Fact:
    """Return what a message stated as a fact of its own, which can end while the message stays."""
    name = message.source.speaker or "The user"
    return message.model_copy(
        update={
            "id": derived_id(message.id, CALLER),
            "content": f"{name} said: “{message.content}”",
            "category": Category.PERSONAL,
            "perhaps_changed": (),
            "version": 1,
            "source": message.source.model_copy(update={"extractor": CALLER}),
        }
    )
