"""Find the older statements of a user that newer ones have made untrue.

Newer statements are the user's messages as they were said, and facts without a message: a message
ends what it ends even if nothing worth keeping was extracted from it. Older statements are facts,
and messages whose statement was never extracted: that leaves a superseded fact, so that history,
`as_of` and recall know that it held, and no longer does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Protocol

from semantic_memory.consolidation.beliefs import are_kept_apart
from semantic_memory.consolidation.relations import Relation, said_at
from semantic_memory.consolidation.renewal import Renewal, renewal
from semantic_memory.consolidation.retelling import ENDED, SURE, renewing, retold
from semantic_memory.consolidation.superseding import may_retire, standing, superseded
from semantic_memory.consolidation.sweep import ContestDecision, SupersedeDecision
from semantic_memory.consolidation.telling import told
from semantic_memory.domain.changes import Keyed
from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.renewals import is_claim
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Belief, Beliefs, Facts, VectorSearch, WordSearch
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.domain.text import stems
from semantic_memory.domain.values import derived_id
from semantic_memory.language.own_speech import stated

EXTRACTOR = "renewal"
"""The extractor of a fact that was recorded when it ended."""

_NEAR = 16  # nearest memories that each statement is compared with
_BY_WORDS = 24
_MOST_TERMS = 24
_IN_A_ROW = timedelta(minutes=45)  # within which a message may correct an earlier one
_MOST_APART = 3  # of the user's messages
_SAYS = 0.5  # share of a clause's words in a fact that says the same
_SENTENCE_ENDS = regex(r"(?<=[.!?])\s+|\n+")


class RenewalLedger(Beliefs, Facts, WordSearch, Protocol):
    """The roles of the ledger that renewing uses."""


@dataclass(frozen=True, slots=True)
class EndDecision:
    """A statement of a message that was never a fact, and that no longer holds."""

    message: Fact
    content: str
    winner: Fact
    reasons: tuple[str, ...]

    @property
    def result(self) -> Fact:
        """The statement as a fact that has been superseded."""
        return superseded(_of_message(self.message, self.content, Category.PERSONAL), self.winner)


@dataclass(frozen=True, slots=True)
class TellDecision:
    """A change that a message made, of which nothing was extracted."""

    message: Fact
    older: Fact
    """The fact that is changed."""
    content: str
    reasons: tuple[str, ...]

    @property
    def result(self) -> Fact:
        """The change as a fact."""
        is_fact = self.older.category is not Category.CONVERSATION
        category = self.older.category if is_fact else Category.PERSONAL
        fact = _of_message(self.message, self.content, category)
        return fact.model_copy(update={"confidence": SURE})


RenewalDecision = SupersedeDecision | ContestDecision | EndDecision | TellDecision


class Renewer:
    """Finds what a user's newer statements end, replace or correct. Reads only."""

    def __init__(
        self, ledger: RenewalLedger, index: VectorSearch, is_read: Callable[[Fact], bool]
    ) -> None:
        """Tell the changes of messages from which facts have been extracted, by `is_read`."""
        self._ledger = ledger
        self._index = index
        self._is_read = is_read

    def keyed(self, user_id: str, since: int) -> list[Keyed]:
        """Return the lookup keys of the user's messages that changed after `since`."""
        return [
            Keyed(belief.fact.id, keys)
            for belief in self._said(user_id, since)
            if (keys := facet_keys(belief.fact))
        ]

    def decisions(
        self, user_id: str, since: int, gone: Collection[str], changed: Mapping[str, Fact]
    ) -> Iterator[RenewalDecision]:
        """Yield decisions by what the user said after revision `since`, in the order it was said.

        `gone` are ids of facts that end by another decision; `changed` are facts as other decisions
        leave them, by id.
        """
        ended, left = set(gone), dict(changed)
        told_alone = [
            belief
            for belief in self._ledger.beliefs(user_id, since=since)
            if not belief.fact.message_ids
        ]
        newer = sorted(
            (*self._said(user_id, since), *told_alone), key=lambda belief: said_at(belief.fact)
        )
        for belief in newer:
            if belief.fact.id not in ended and told(stated(belief.fact)).renews:
                for decision in self._ended_by(belief, ended, left):
                    match decision:
                        case SupersedeDecision():
                            ended.add(decision.loser.id)
                        case ContestDecision():
                            left |= {one.id: one for one in (decision.result, decision.rival)}
                    yield decision

    def _said(self, user_id: str, since: int) -> list[Belief]:
        messages = self._ledger.messages(user_id, since=since)
        return [belief for belief in messages if belief.fact.source.role in (None, "user")]

    def _ended_by(
        self, newer: Belief, ended: Collection[str], left: Mapping[str, Fact]
    ) -> Iterator[RenewalDecision]:
        every = self._drawn_from(newer.fact)
        held = any(one.status is Status.QUARANTINED for one in every)
        drawn = [one for one in every if one.id not in ended and one.status is Status.ACTIVE]
        before = self._before(newer)
        has_told = False
        for older in self._candidates(newer, before):
            if older.fact.id in ended or not _comparable(older.fact, newer.fact, drawn):
                continue
            likeness = older.likeness(newer)
            found = renewal(
                stated(older.fact), stated(newer.fact), before.get(older.fact.id), likeness
            )
            if found is None:
                continue
            winner = _winner(stated(older.fact), drawn)
            if winner is None and not held:
                beside = None if has_told else [one.content for one in drawn]
                if telling := self._telling(older.fact, newer.fact, found, beside):
                    yield telling
                    winner, has_told = telling.result, True
            yield from self._settled(older.fact, winner or newer.fact, found, left)

    def _settled(
        self, loser: Fact, winner: Fact, found: Renewal, left: Mapping[str, Fact]
    ) -> Iterator[SupersedeDecision | ContestDecision | EndDecision]:
        """Yield what becomes of a statement that another one renews, if anything."""
        loser, winner = (left.get(one.id, one) for one in (loser, winner))
        if not may_retire(winner, loser):
            if Category.CONVERSATION not in (loser.category, winner.category):
                decision = ContestDecision.between(winner, loser, (found.reason,))
                if decision is not None:
                    yield decision
        elif loser.category is not Category.CONVERSATION:
            yield SupersedeDecision(loser, winner, Relation.UPDATES, (found.reason,))
        elif ending := self._ended(loser, found, winner):
            yield ending

    def _candidates(self, newer: Belief, before: dict[str, int]) -> list[Belief]:
        fact = newer.fact
        terms = list(dict.fromkeys(told(stated(fact)).topics))[:_MOST_TERMS]
        own_scope = Filters(**fact.scope.exact)
        by_words = self._ledger.words(fact.user_id, terms, limit=_BY_WORDS, filters=own_scope)
        near = self._index.query(newer.vector, user_id=fact.user_id, limit=_NEAR, filters=own_scope)
        ids = {match.id for match in (*by_words, *near)}
        ids.update(before)
        found = self._ledger.beliefs_among(
            fact.user_id, ids - {fact.id}, facet_keys(fact), messages=True
        )
        return sorted(found, key=lambda belief: said_at(belief.fact))

    def _before(self, newer: Belief) -> dict[str, int]:
        """Return how many of the user's messages each memory of the session lies before this one.

        Only the latest ones, which a correction may mean.
        """
        fact, source = newer.fact, newer.fact.source
        if source.session_id is None or source.position is None:
            return {}
        ids = self._ledger.ids(
            fact.user_id,
            Filters(
                session_id=source.session_id,
                since=fact.created_at - _IN_A_ROW,
                until=fact.created_at + timedelta(microseconds=1),
            ),
        )
        facts = self._ledger.get(ids, fact.user_id)
        places = sorted(
            {
                one.source.position
                for one in facts
                if one.source.position is not None
                and one.source.position < source.position
                and one.source.role in (None, "user")
            },
            reverse=True,
        )[:_MOST_APART]
        apart = {place: number for number, place in enumerate(places, start=1)}
        return {
            one.id: apart[one.source.position]
            for one in facts
            if one.source.position in apart and one.source.role in (None, "user")
        }

    def _drawn_from(self, message: Fact) -> list[Fact]:
        """Return the facts that were drawn from a message, in any status."""
        if message.category is not Category.CONVERSATION:
            return []
        ids = self._ledger.ids(
            message.user_id,
            Filters(
                session_id=message.source.session_id,
                since=message.created_at,
                until=message.created_at + timedelta(microseconds=1),
                not_categories=frozenset({Category.CONVERSATION}),
            ),
        )
        return [
            fact
            for fact in self._ledger.get(ids, message.user_id)
            if not set(fact.message_ids).isdisjoint(message.message_ids)
        ]

    def _telling(
        self, older: Fact, message: Fact, found: Renewal, drawn: Sequence[str] | None
    ) -> TellDecision | None:
        """Return what a message says of an older fact, beside the facts drawn from it."""
        if message.category is not Category.CONVERSATION or not may_retire(message, older):
            return None
        is_fact = older.category is not Category.CONVERSATION
        if not (is_fact or self._ended(older, found, message)) or not self._is_read(message):
            return None
        text = retold(
            stated(older),
            stated(message),
            found.reason if is_fact else ENDED,
            drawn,
            name=message.source.speaker or "The user",
            said=message.created_at,
        )
        return TellDecision(message, older, text, (found.reason,)) if text else None

    def _ended(self, message: Fact, found: Renewal, winner: Fact) -> EndDecision | None:
        """Return the statement of a message that ended, unless a fact was drawn from it."""
        if not is_claim(found.clause):
            return None
        said = _sentence(stated(message), found.clause)
        if any(_says(fact.content, found.clause) for fact in self._drawn_from(message)):
            return None
        name = message.source.speaker or "The user"
        return EndDecision(message, f"{name} said: “{said}”", winner, (found.reason,))


def _winner(older: str, drawn: list[Fact]) -> Fact | None:
    """Return the fact of a message that renews an older statement, or else shares most with it."""
    place = renewing(older, [one.content for one in drawn])
    return None if place is None else drawn[place]


def _of_message(message: Fact, content: str, category: Category) -> Fact:
    return Fact(
        id=derived_id(message.id, EXTRACTOR, content),
        user_id=message.user_id,
        agent_id=message.agent_id,
        run_id=message.run_id,
        content=content,
        category=category,
        created_at=message.created_at,
        recorded_at=message.recorded_at,
        valid_from=message.created_at,
        expires_at=message.expires_at,
        trust=message.trust,
        source=message.source.model_copy(update={"extractor": EXTRACTOR}),
    )


def facet_keys(fact: Fact) -> frozenset[bytes]:
    """Return hashes of what a statement gives a value of: its subject's home, role, diet."""
    return hashed((repr(("facet", *kind)) for kind in told(stated(fact)).kinds), fact.scope)


def hashed(keys: Iterable[str], scope: Scope) -> frozenset[bytes]:
    """Return hashes of keys by which facts of one scope are looked up."""
    within = "" if scope == SHARED else repr(scope.columns)
    return frozenset(blake2b(f"{within}{key}".encode(), digest_size=8).digest() for key in keys)


def _comparable(older: Fact, newer: Fact, drawn: Iterable[Fact]) -> bool:
    return (
        older.scope == newer.scope
        and standing(older)[1:] < standing(newer)[1:]
        and older.source.role in (None, "user")
        and older.source.speaker == newer.source.speaker
        and (not older.message_ids or set(older.message_ids).isdisjoint(newer.message_ids))
        and not any(are_kept_apart(older, one) for one in (newer, *drawn))
    )


def _sentence(text: str, clause: str) -> str:
    """Return the sentence of a text that holds a clause, as it was said."""
    parts = _SENTENCE_ENDS.split(text.strip())
    return next((one for one in parts if _says(one, clause)), text.strip())


def _says(text: str, clause: str) -> bool:
    """Return whether a text has most words of a clause."""
    own, wanted = (frozenset(stems(one)) for one in (folded(text), clause))
    return bool(wanted) and len(own & wanted) >= _SAYS * len(wanted)
