"""Carry out what an extractor decided about known facts, unless a rule vetoes it.

The extractor saw the facts beside the messages, so its decision stands. Rules only say where it may
not reach: they end nothing themselves. A decision that is less than certain marks the fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal

from semantic_memory.consolidation.beliefs import are_kept_apart
from semantic_memory.consolidation.superseding import perhaps_changed, superseded
from semantic_memory.domain.changes import Update
from semantic_memory.domain.facts import Category, Cause, Fact, Status

Veto = Literal[
    "not believed", "scope", "quarantined", "kept apart", "older", "another speaker", "trust"
]
_MARKED: frozenset[Veto] = frozenset({"another speaker", "trust"})
"""Vetoes that say who may not end the fact, and not that nothing was said about it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision that a statement ends a known fact."""

    older: Fact
    newer: Fact
    """The statement: a fact, or the memory of a message."""
    reason: str
    quote: str | None
    probability: float
    doubt: str | None = None
    """Reason for which it only marks the fact; None if it ends it."""
    since: date | None = None
    """The first day on which the statement holds; None if that is the day on which it was said."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The changes that decisions lead to, and the number of those that were vetoed, by reason."""

    updates: list[Update]
    vetoed: Counter[str]


def veto(decision: Decision) -> Veto | None:
    """Return the reason why a statement may not end a fact; None if it may."""
    older, newer = decision.older, decision.newer
    return next(
        (reason for reason, holds in _objections(older, newer).items() if holds),
        None,
    )


def _objections(older: Fact, newer: Fact) -> Mapping[Veto, bool]:
    speakers = {older.source.speaker, newer.source.speaker}
    return {
        "not believed": (
            older.status is not Status.ACTIVE
            or older.category is Category.CONVERSATION
            or older.user_id != newer.user_id
            or older.id == newer.id
        ),
        "scope": older.scope != newer.scope,
        "quarantined": newer.status is Status.QUARANTINED,
        "kept apart": are_kept_apart(older, newer),
        "older": newer.created_at < older.stated_at,
        "another speaker": None not in speakers and len(speakers) > 1,
        "trust": newer.trust < older.trust,
    }


def carried_out(decisions: Iterable[Decision], extractor: str, now: datetime) -> Decided:
    """Return the changes of decisions that an extractor took; of one fact, the first end counts."""
    states: dict[str, Fact] = {}
    actions: dict[str, str] = {}
    reasons: dict[str, str] = {}
    vetoed: Counter[str] = Counter()
    for decision in decisions:
        older = states.get(decision.older.id, decision.older)
        if older.status is not decision.older.status:
            continue  # it has ended by an earlier one
        objection = veto(decision)
        if objection is not None:
            vetoed[f"veto: {objection}"] += 1
            if objection not in _MARKED:
                continue
        doubt = f"said with less standing: {objection}" if objection else decision.doubt
        cause = Cause(
            newer=decision.newer.id,
            decided_by=extractor,
            reason=doubt or decision.reason,
            quote=decision.quote,
            probability=decision.probability,
            at=now,
        )
        states[older.id] = (
            perhaps_changed(older, cause) if doubt else _ended(older, decision, cause)
        )
        actions[older.id] = "marked" if doubt else "superseded"
        reasons[older.id] = cause.reason
    updates = [Update(fact, actions[one], now, reasons[one]) for one, fact in states.items()]
    return Decided(updates, vetoed)


def _ended(older: Fact, decision: Decision, cause: Cause) -> Fact:
    newer = decision.newer
    ends = newer.created_at if decision.since is None else midnight(decision.since)
    valid_to = max(older.valid_from, min(ends, newer.created_at))
    return superseded(older, newer, cause).model_copy(update={"valid_to": valid_to})


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins, in UTC."""
    return datetime.combine(day, time.min, UTC)
