"""How belief fades without confirmation, and what is put away: pure rules, given `now`.

Retention (`decay`) follows from age and is written nowhere: memories are ranked by it, and over the
cap put away by it. Of the confidence, every full week without confirmation takes 0.01.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from semantic_memory.consolidation.merging import stated_at
from semantic_memory.domain import decay
from semantic_memory.domain.decay import HALF_LIFE_DAYS, PINNED
from semantic_memory.domain.facts import Category, Fact, Status

WEEK = timedelta(weeks=1)
SPACING = timedelta(hours=1)
"""Uses closer together than this count once."""


@dataclass(frozen=True, slots=True)
class Fading:
    """What is taken from confidence, and what is put away."""

    loss_per_week: float = 0.01
    floor: float = 0.3
    """Facts of lower confidence are archived."""
    cap: int = 5_000
    """Active facts a user may have; verbatim messages don't count."""
    half_life_days: Mapping[Category, float] = field(default_factory=lambda: HALF_LIFE_DAYS)


DEFAULT = Fading()


@dataclass(frozen=True, slots=True)
class ArchiveDecision:
    """A fact to be put away, and why. It stays in the store and can be restored."""

    fact: Fact
    reasons: tuple[str, ...]


def used(fact: Fact, at: datetime) -> Fact:
    """`fact` after it helped at `at`; counted only if the last use is an hour or more ago."""
    if fact.last_used_at is not None and at - fact.last_used_at < SPACING:
        return fact
    return fact.model_copy(update={"use_count": fact.use_count + 1, "last_used_at": at})


def retention(fact: Fact, now: datetime, rules: Fading = DEFAULT) -> float:
    """What time has left of it, in [0.1, 1]; 1 for what is pinned. As ranking reads it."""
    age = decay.age_days(stated_at(fact).timestamp(), now.timestamp())
    lasts = decay.endurance(fact.use_count, len(fact.corroborations), fact.tags)
    return float(decay.retention(age, rules.half_life_days[fact.category] * lasts))


def faded(fact: Fact, since: datetime, now: datetime, rules: Fading = DEFAULT) -> Fact:
    """`fact` less what the weeks that ended after `since` and by `now` take from its confidence.

    `since` is when this was last done. However often it is done, a week is taken once.
    """
    if not _fades(fact, rules):
        return fact
    said = stated_at(fact)
    weeks = _weeks(now - said) - _weeks(since - said)
    if weeks <= 0:
        return fact
    left = max(0.0, round(fact.confidence - rules.loss_per_week * weeks, 6))
    return fact.model_copy(update={"confidence": left})


def to_archive(
    facts: Sequence[Fact], now: datetime, rules: Fading = DEFAULT
) -> list[ArchiveDecision]:
    """Which of one user's facts are put away: those below the floor, then those over the cap.

    Over the cap, the lowest confidence goes first, then what time has left least of, then the
    oldest. Pinned facts and verbatim messages stay.
    """
    held = [
        fact
        for fact in facts
        if fact.status is Status.ACTIVE and fact.category is not Category.CONVERSATION
    ]
    movable = [fact for fact in held if not is_pinned(fact)]
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
            stated_at(fact),
            fact.id,
        ),
    )
    over = max(0, len(held) - len(low) - rules.cap)
    decisions += [
        ArchiveDecision(fact, (f"over the cap of {rules.cap:,} facts",)) for fact in rest[:over]
    ]
    return decisions


def archived(fact: Fact) -> Fact:
    """`fact`, put away."""
    return fact.model_copy(update={"status": Status.ARCHIVED})


def is_pinned(fact: Fact) -> bool:
    """Whether the fact is exempt from fading and archiving."""
    return PINNED in fact.tags


def _fades(fact: Fact, rules: Fading) -> bool:
    # a verbatim message was said, and stays so
    return (
        not is_pinned(fact)
        and fact.category is not Category.CONVERSATION
        and math.isfinite(rules.half_life_days[fact.category])
    )


def _weeks(duration: timedelta) -> int:
    return max(0, duration // WEEK)
