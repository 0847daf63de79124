"""Derivation of a user's history tiers from their facts, without a language model.

Each tier takes the notable facts of its age, the most central ones first, within its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.profile import TIERS, HistoryTier, TierAges
from semantic_memory.profile.central import most_central, sentence, telling

_NOTABLE: Mapping[Category, float] = MappingProxyType(
    {
        Category.PROJECT: 1.0,
        Category.DECISION: 1.0,
        Category.FINDING: 0.9,
        Category.PERSONAL: 0.9,
        Category.TECHNICAL: 0.7,
        Category.REFERENCE: 0.5,
        Category.PREFERENCE: 0.4,
        Category.FEEDBACK: 0.0,
        Category.CONVERSATION: 0.0,
    }
)
"""Weight of each category as an event."""
_OWN_NOTABLE = 0.7  # of an application's own category
_LEAST = 0.3  # weight below which a fact is left out even if there is room


@dataclass(frozen=True, slots=True)
class Extent:
    """Limits on the length of a history tier."""

    sentences: int
    tokens: int


def derive_history(
    beliefs: Sequence[Belief],
    count: Callable[[str], int],
    now: datetime,
    extents: Mapping[HistoryTier, Extent],
    ages: TierAges,
) -> dict[HistoryTier, tuple[Fact, ...]]:
    """Return the facts of each tier, in the order in which they were stated.

    `count` returns the tokens of a line. The result doesn't depend on the order of `beliefs`.
    """
    tiers: dict[HistoryTier, tuple[Fact, ...]] = {}
    notable = sorted(
        ((belief, weight) for belief in beliefs if (weight := _notable(belief.fact)) >= _LEAST),
        key=lambda one: one[0].fact.id,
    )
    for tier in TIERS:
        own = [one for one in notable if ages.tier_of(one[0].fact.created_at, now) == tier]
        chosen = most_central(
            [belief.vector for belief, _ in own],
            [weight for _, weight in own],
            [sentence(belief.fact.content) for belief, _ in own],
            count,
            most=extents[tier].sentences,
            room=extents[tier].tokens,
        )
        facts = [own[place][0].fact for place in chosen]
        tiers[tier] = tuple(sorted(facts, key=lambda fact: (fact.created_at, fact.id)))
    return tiers


def _notable(fact: Fact) -> float:
    """Return the weight of a fact as an event, in [0, 1]."""
    return telling(fact) * _NOTABLE.get(fact.category, _OWN_NOTABLE)
