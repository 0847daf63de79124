"""Fading of confidence without confirmation, and archiving: pure functions, given `now`.

Retention (`decay`) is computed from age and never stored; it affects ranking, and the choice of the
facts archived over the cap. Confidence is stored and falls by 0.01 each full week without
confirmation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from semantic_memory.consolidation.beliefs import RESTORED_CONFIDENCE
from semantic_memory.domain import decay
from semantic_memory.domain.decay import CURVE, HALF_LIFE_DAYS, Curve
from semantic_memory.domain.facts import Category, Fact, Status

WEEK = timedelta(weeks=1)
SPACING = timedelta(hours=1)
"""Least time between two uses that both count."""


@dataclass(frozen=True, slots=True)
class Fading:
    """Rules of fading and archiving."""

    loss_per_week: float = 0.01
    floor: float = 0.3
    """Confidence below which facts are archived."""
    cap: int = 5_000
    """Largest number of active facts of a user, verbatim messages excluded."""
    half_life_days: Mapping[Category, float] = field(default_factory=lambda: HALF_LIFE_DAYS)
    curve: Curve = CURVE


DEFAULT = Fading()


@dataclass(frozen=True, slots=True)
class ArchiveDecision:
    """A fact to archive, with the reasons. It stays in the store and can be restored."""

    fact: Fact
    reasons: tuple[str, ...]


def used(fact: Fact, at: datetime) -> Fact:
    """Return `fact` with a use at `at`; unchanged if its last use is less than an hour before."""
    if fact.last_used_at is not None and at - fact.last_used_at < SPACING:
        return fact
    return fact.model_copy(update={"use_count": fact.use_count + 1, "last_used_at": at})


def retention(fact: Fact, now: datetime, rules: Fading = DEFAULT) -> float:
    """Return the retention of a fact as ranking computes it; 1 for pinned facts."""
    age = decay.age_days(fact.stated_at.timestamp(), now.timestamp())
    return float(decay.retention(age, half_life(fact, rules), rules.curve))


def recency(fact: Fact, now: datetime, rules: Fading = DEFAULT) -> float:
    """Return the recency of a fact as ranking computes it."""
    age = decay.age_days(fact.stated_at.timestamp(), now.timestamp())
    last = -math.inf if fact.last_used_at is None else fact.last_used_at.timestamp()
    return float(decay.recency(age, decay.age_days(last, now.timestamp()), rules.curve))


def relevance(fact: Fact, now: datetime, rules: Fading = DEFAULT) -> float:
    """Return the relevance of a fact, whatever is searched for; see `domain.decay`."""
    confirmed = float(decay.confirmation(len(fact.corroborations)))
    fading = retention(fact, now, rules)
    if math.isfinite(_own_half_life(fact, rules)):
        fading *= recency(fact, now, rules)
    return fact.importance * fact.confidence * fading * decay.prior_of(fact.category) * confirmed


def half_life(fact: Fact, rules: Fading = DEFAULT) -> float:
    """Return the half-life of a fact in days, stretched by its uses and confirmations."""
    sources = 0 if fact.category is Category.CONVERSATION else len(fact.corroborations)
    lasts = decay.endurance(fact.use_count, sources, fact.tags)
    return _own_half_life(fact, rules) * lasts


def faded(fact: Fact, since: datetime, now: datetime, rules: Fading = DEFAULT) -> Fact:
    """Return `fact` with the loss of confidence for the weeks that ended in (since, now].

    `since` is the time of the previous call, so that repeated calls deduct each week once. Weeks
    count from the fact's last statement.
    """
    if not _fades(fact, rules):
        return fact
    said = fact.stated_at
    weeks = _weeks(now - said) - _weeks(since - said)
    if weeks <= 0:
        return fact
    left = max(0.0, round(fact.confidence - rules.loss_per_week * weeks, 6))
    return fact.model_copy(update={"confidence": left})


def regained(fact: Fact, since: datetime, now: datetime, rules: Fading = DEFAULT) -> Fact:
    """Return `fact` with what it lost in the weeks of (now, since], for a clock that went back.

    What a fact had that lost all can't be told; it gets the confidence of a restored one.
    """
    if not _fades(fact, rules):
        return fact
    said = fact.stated_at
    weeks = _weeks(since - said) - _weeks(now - said)
    if weeks <= 0:
        return fact
    before = min(1.0, round(fact.confidence + rules.loss_per_week * weeks, 6))
    left = before if fact.confidence else min(before, RESTORED_CONFIDENCE)
    return fact.model_copy(update={"confidence": left})


def to_archive(
    facts: Sequence[Fact], now: datetime, rules: Fading = DEFAULT
) -> list[ArchiveDecision]:
    """Return the facts of one user to archive: those below the floor, then those over the cap.

    Over the cap, the facts of lowest confidence go first, then those of lowest retention, then the
    oldest. Pinned facts and verbatim messages stay.
    """
    held = [
        fact
        for fact in facts
        if fact.status is Status.ACTIVE and fact.category is not Category.CONVERSATION
    ]
    movable = [fact for fact in held if not fact.is_pinned]
    low = [fact for fact in movable if fact.confidence < rules.floor and _fades(fact, rules)]
    decisions = [
        ArchiveDecision(fact, (f"confidence {fact.confidence:.2f} is below {rules.floor:.2f}",))
        for fact in low
    ]
    gone = {fact.id for fact in low}
    rest = sorted(
        (fact for fact in movable if fact.id not in gone),
        key=lambda fact: (
            fact.confidence,
            retention(fact, now, rules),
            fact.stated_at,
            fact.id,
        ),
    )
    over = max(0, len(held) - len(low) - rules.cap)
    decisions += [
        ArchiveDecision(fact, (f"over the cap of {rules.cap:,} facts",)) for fact in rest[:over]
    ]
    return decisions


def archived(fact: Fact) -> Fact:
    """Return `fact`, archived."""
    return fact.model_copy(update={"status": Status.ARCHIVED})


def _fades(fact: Fact, rules: Fading) -> bool:
    # a verbatim message remains true
    return (
        not fact.is_pinned
        and fact.category is not Category.CONVERSATION
        and math.isfinite(_own_half_life(fact, rules))
    )


def _own_half_life(fact: Fact, rules: Fading) -> float:
    return decay.half_life_of(fact.category, rules.half_life_days)


def _weeks(duration: timedelta) -> int:
    return max(0, duration // WEEK)
