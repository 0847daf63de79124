"""Keeps users' profiles and histories level with their facts and with time.

What is derived is derived again and compared with what stands, so that only differences are
written. What a model or a person wrote stays: history lines move on to older tiers by their age and
are condensed there, by a model where there is one, else by keeping the most central.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from semantic_memory.consolidation.candidates import Read
from semantic_memory.consolidation.resolver import STANDING_ORDERS, Outcome, lookup_key
from semantic_memory.domain.changes import Change, Mark, Retire, Write
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.facts import Category, Fact, Status, prevailing
from semantic_memory.domain.ports import (
    Belief,
    Beliefs,
    ChangeLog,
    Clock,
    Condenser,
    Embedder,
    Facts,
    JobMarks,
    Pending,
    ProfileLines,
    TokenCounter,
)
from semantic_memory.domain.profile import (
    PROFILE_FIELDS,
    TIERS,
    CoreField,
    HistoryTier,
    Layer,
    Line,
    TierAges,
    every,
    said_in,
)
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import new_id, normalised
from semantic_memory.profile.central import most_central, sentence
from semantic_memory.profile.core import FIELD_OF_SLOT, derive_core, fields_of, is_of_pet
from semantic_memory.profile.history import Extent, derive_history
from semantic_memory.profile.texts import RECENT, derive_texts, touched_at

ROLLUP = "rollup"
_DERIVED = "core profiles"  # names the marks of how far they have been derived
_OLDER: tuple[HistoryTier, ...] = TIERS[1:]
_OF_OTHERS = frozenset({Trust.EXTERNAL, Trust.TOOL})
_FRESH = 64  # facts that a block reads beside the core, before it is derived again
_PATIENCE = 2  # times the sentences of a tier may wait for a model that fails
_TRIES = 3  # to plan lines that nobody changes before they are written


class ProfileLedger(Beliefs, Facts, ProfileLines, ChangeLog, JobMarks, Protocol):
    """The roles of the ledger that profiles are derived from and written to."""


@dataclass(frozen=True, slots=True)
class Extents:
    """Size limits of profiles and histories, and the ages of the tiers."""

    field: int
    """Facts of a field of the core profile."""
    tiers: Mapping[HistoryTier, Extent]
    ages: TierAges


class Rollup:
    """Derives, moves and condenses lines, one user at a time. Thread-safe."""

    def __init__(
        self,
        ledger: ProfileLedger,
        embedder: Embedder,
        counter: TokenCounter,
        condenser: Condenser | None,
        clock: Clock,
        read: Read,
        extents: Extents,
    ) -> None:
        """Derive the core from facts as `read` reads them."""
        self._ledger = ledger
        self._embedder = embedder
        self._counter = counter
        self._condenser = condenser
        self._clock = clock
        self._read = read
        self._extents = extents

    def stale(self) -> list[str]:
        """Users with changes since their profiles were derived."""
        return [user.user_id for user in self._ledger.pending(_DERIVED)]

    def fresh(
        self, user_id: str, facts: Sequence[Fact]
    ) -> dict[CoreField, tuple[Fact, ...]] | None:
        """Return the core with what was committed since it was derived from `facts`.

        None if nothing was. Of a store into which much is loaded, the first changes only.
        """
        for user in self._ledger.pending(_DERIVED, user_id):
            ids = self._ledger.changed(user_id, user.seen, _FRESH)
            changed = [one for one in self._ledger.get([*ids], user_id) if _is_active_fact(one)]
            if changed:
                known = {fact.id: fact for fact in (*facts, *changed)}
                return derive_core([*known.values()], self._read, self._extents.field)
        return None

    def fields_of(self, fact: Fact) -> frozenset[CoreField]:
        """Return the fields of the core that a fact or a message speaks of."""
        return fields_of(fact, self._read)

    def is_of_pet(self, fact: Fact) -> bool:
        """Return True if a fact or a message is read to be about a pet."""
        return is_of_pet(fact, self._read)

    def follow(self, user_id: str) -> None:
        """Refresh if facts changed since the last time."""
        for user in self._ledger.pending(_DERIVED, user_id):
            if self._ledger.changed(user_id, user.seen, limit=1):
                self.refresh(user_id)
            else:
                mark = Mark(_DERIVED, user_id, user.revision, self._clock.now())
                self._ledger.apply([mark])

    def refresh(self, user_id: str) -> None:
        """Derive the lines of a user's profile from the facts again; written lines stay.

        Lines that others keep changing meanwhile are left to the next time.
        """
        for _ in range(_TRIES):
            now = self._clock.now()
            revision = self._ledger.revision(user_id)
            lines = self._ledger.lines(user_id)
            written = [line for line in lines if line.origin != "derived"]
            wanted = [*written, *self._derived(user_id, written, now)]
            changes, _ = difference(lines, wanted, now)
            with self._ledger.exclusive(user_id):
                if self._ledger.lines(user_id) == lines:
                    self._ledger.apply([*changes, Mark(_DERIVED, user_id, revision, now)])
                    return

    def roll(self, user: Pending, *, everything: bool = False, dry_run: bool = False) -> Outcome:
        """Bring a user's lines up to date with their facts and their age.

        Only of users whose facts changed, or whose lines have aged, since the last time, unless
        `everything`. Raises ProviderError if the embedding model can't be reached.
        """
        now = self._clock.now()
        lines = self._ledger.lines(user.user_id)
        if (
            not everything
            and user.revision <= user.seen
            and not has_aged(lines, now, self._extents.ages)
        ):
            return Outcome()
        written = [self._in_place(line, now) for line in lines if line.origin != "derived"]
        notes = Outcome()
        for tier in _OLDER:
            written = self._shortened(written, tier, now, notes, dry_run=dry_run)
        wanted = [*written, *self._derived(user.user_id, written, now)]
        changes, outcome = difference(lines, wanted, now)
        outcome.counts.update(notes.counts)
        outcome.planned.extend(notes.planned)
        if dry_run:
            return outcome
        with self._ledger.exclusive(user.user_id):
            if self._ledger.lines(user.user_id) != lines:
                return Outcome()  # changed while it was planned: left to the next run
            mark = Mark(ROLLUP, user.user_id, user.revision, now)
            self._ledger.apply([*changes, mark])
        outcome.planned.clear()
        return outcome

    def _shortened(
        self,
        written: Sequence[Line],
        tier: HistoryTier,
        now: datetime,
        notes: Outcome,
        *,
        dry_run: bool,
    ) -> list[Line]:
        """Return the written entries; condense the entries of a tier that has too many."""
        own = [line for line in written if line.layer == tier]
        others = [line for line in written if line.layer != tier]
        extent = self._extents.tiers[tier]
        texts = [line.text for line in own]
        count = self._counter.count
        if len(own) <= extent.sentences and sum(map(count, texts)) <= extent.tokens:
            return [*others, *own]
        if self._condenser is not None and dry_run:
            notes.counts["condensed"] += 1
            told = " ".join(f"“{line.text}”" for line in own)
            notes.planned.append(
                f"have a model condense {tier} into at most {extent.sentences} sentences: {told}"
            )
            return [*others, *own]
        if self._condenser is not None:
            try:
                return [*others, *self._condensed(self._condenser, own, tier, now)]
            except ProviderError:
                notes.counts["condensing failed"] += 1
                if len(own) <= _PATIENCE * extent.sentences:
                    return [*others, *own]  # the model may be back at the next run
        vectors = list(self._embedder.embed(texts, "document"))
        equal = [1.0] * len(own)
        most, room = extent.sentences, extent.tokens
        chosen = most_central(vectors, equal, texts, count, most=most, room=room)
        return [*others, *(own[place] for place in sorted(chosen))]

    def _condensed(
        self,
        condenser: Condenser,
        lines: Sequence[Line],
        tier: HistoryTier,
        now: datetime,
    ) -> list[Line]:
        told = []
        for text, rests_on in condenser.condense(lines, most=self._extents.tiers[tier].sentences):
            sources = [lines[place] for place in rests_on]
            told.append(
                Line(
                    id=new_id(),
                    user_id=lines[0].user_id,
                    layer=tier,
                    text=text,
                    origin="model",
                    at=min(line.at for line in sources),
                    valid_from=now,
                    fact_ids=every(line.fact_ids for line in sources),
                    said_in=every(line.said_in for line in sources),
                )
            )
        return told

    def _derived(self, user_id: str, written: Sequence[Line], now: datetime) -> Iterator[Line]:
        """Derive the entries that stand beside the written ones."""
        texts = [normalised(line.text) for line in written]
        restated = {fact_id for line in written for fact_id in line.fact_ids}
        beliefs = [
            belief
            for belief in _trusted(self._ledger.beliefs(user_id))
            if belief.fact.id not in restated
            and not any(normalised(belief.fact.content) in text for text in texts)
        ]
        known = {belief.fact.id for belief in beliefs}
        by_hand = {line.layer for line in written}
        of_core = [one.fact for one in self._of_core(user_id) if one.fact.id in known]
        fields = derive_core(of_core, self._read, self._extents.field)
        slotted = {fact.id for fact in of_core}
        stated = [belief.fact for belief in beliefs]
        for text, chosen in derive_texts(fields, stated, now, slotted).items():
            for fact in chosen if text not in by_hand else ():
                at = touched_at(fact) if text == "top_of_mind" else fact.stated_at
                yield _line(user_id, text, fact, at, now)
        fields = {name: facts for name, facts in fields.items() if name not in by_hand}
        shown = {fact.id for facts in fields.values() for fact in facts}
        for name, facts in fields.items():
            for fact in facts:
                yield _line(user_id, name, fact, fact.stated_at, now)
        told = {place for line in written if line.layer in TIERS for place in line.said_in}
        rest = [
            belief
            for belief in beliefs
            if belief.fact.id not in shown and told.isdisjoint(said_in([belief.fact]))
        ]
        extents, ages = self._extents.tiers, self._extents.ages
        tiers = derive_history(rest, self._counter.count, now, extents, ages)
        for tier, facts in tiers.items():
            if tier in _OLDER and any(line.layer == tier for line in written):
                continue  # a model has told what matters of that time
            for fact in facts:
                yield _line(user_id, tier, fact, fact.created_at, now)

    def _of_core(self, user_id: str) -> list[Belief]:
        """Return the user's facts that consolidation has found to be of a slot of the core."""
        keys = {lookup_key(f"slot:{slot}") for slot in FIELD_OF_SLOT}
        return self._ledger.beliefs_among(user_id, (), {*keys, lookup_key(STANDING_ORDERS)})

    def _in_place(self, line: Line, now: datetime) -> Line:
        """Return a line in the tier of its age."""
        if line.layer in PROFILE_FIELDS:
            return line
        tier = self._extents.ages.tier_of(line.at, now)
        if tier == line.layer:
            return line
        return line.model_copy(update={"id": new_id(), "layer": tier, "valid_from": now})


def _is_active_fact(fact: Fact) -> bool:
    return fact.status is Status.ACTIVE and fact.category is not Category.CONVERSATION


def _trusted(beliefs: Sequence[Belief]) -> Iterator[Belief]:
    """Yield the facts that may shape a profile.

    Leaves out output of tools, quoted text, and facts that more trusted ones contest.
    """
    facts = {belief.fact.id: belief.fact for belief in beliefs}
    for belief in beliefs:
        fact = belief.fact
        rivals = [facts[one] for one in fact.contested_by if one in facts]
        if fact.trust not in _OF_OTHERS and prevailing([fact, *rivals])[0] is fact:
            yield belief


def has_aged(lines: Sequence[Line], now: datetime, ages: TierAges) -> bool:
    """Check that the time passed since asks for a change of these lines."""
    return any(_has_aged(line, now, ages) for line in lines)


def _has_aged(line: Line, now: datetime, ages: TierAges) -> bool:
    if line.layer in TIERS:
        return ages.tier_of(line.at, now) != line.layer
    if line.origin != "derived":
        return False
    if line.layer == "deadlines":
        return now.date() > line.valid_from.date()
    return line.layer == "top_of_mind" and now - line.at > RECENT


def difference(
    standing: Sequence[Line], wanted: Sequence[Line], now: datetime
) -> tuple[list[Change], Outcome]:
    """Compute and describe the changes that turn the standing entries into the wanted ones."""
    changes: list[Change] = []
    outcome = Outcome()

    def note(kind: str, words: str) -> None:
        outcome.counts[kind] += 1
        outcome.planned.append(words)

    before: dict[tuple[object, ...], Line] = {}
    for line in standing:
        if before.setdefault(_identity(line), line) is not line:
            changes.append(Retire(line.id, now))
            note("retired", f"take the copy out of {line.layer}: “{line.text}”")
    after = {_identity(line): line for line in wanted}
    new = [line for key, line in after.items() if key not in before]
    came_from = {line.text: line.layer for key, line in before.items() if key not in after}
    goes_on = {line.text for line in new}
    for key, line in before.items():
        if key not in after:
            changes.append(Retire(line.id, now))
            if line.text not in goes_on:
                note("retired", f"take out of {line.layer}: “{line.text}”")
    for line in new:
        changes.append(Write(line))
        if (layer := came_from.get(line.text)) is None:
            note("written", f"write in {line.layer}: “{line.text}”")
        elif layer != line.layer:
            note("moved", f"move from {layer} to {line.layer}: “{line.text}”")
    return changes, outcome


def _line(user_id: str, layer: Layer, fact: Fact, at: datetime, now: datetime) -> Line:
    return Line(
        id=new_id(),
        user_id=user_id,
        layer=layer,
        text=sentence(fact.content),
        origin="derived",
        at=at,
        valid_from=now,
        fact_ids=(fact.id,),
        said_in=said_in([fact]),
    )


def _identity(line: Line) -> tuple[object, ...]:
    """Return an entry's identity; derived entries equal in text, place and sources are the same."""
    if line.origin != "derived":
        return (line.id,)
    return line.layer, line.text, line.at, frozenset(line.fact_ids), frozenset(line.said_in)
