"""Derivation of a user's history tiers from their facts, without a language model.

Each tier takes the notable facts of its age, the most central ones first, within its limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.profile import TIERS, HistoryTier, TierAges
from semantic_memory.profile.central import most_central, telling

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
    costs: Sequence[int],
    now: datetime,
    extents: Mapping[HistoryTier, Extent],
    ages: TierAges,
) -> dict[HistoryTier, tuple[Fact, ...]]:
    """Return the facts of each tier, in the order in which they were stated.

    `costs` are the facts' tokens. The result doesn't depend on the order of `beliefs`.
    """
    tiers: dict[HistoryTier, tuple[Fact, ...]] = {}
    notable = sorted(
        (
            (belief, cost, weight)
            for belief, cost in zip(beliefs, costs, strict=True)
            if (weight := _notable(belief.fact)) >= _LEAST
        ),
        key=lambda item: item[0].fact.id,
    )
    for tier in TIERS:
        own = [item for item in notable if ages.tier_of(item[0].fact.created_at, now) == tier]
        chosen = most_central(
            [belief.vector for belief, _, _ in own],
            [weight for _, _, weight in own],
            [cost for _, cost, _ in own],
            most=extents[tier].sentences,
            room=extents[tier].tokens,
        )
        facts = [own[place][0].fact for place in chosen]
        tiers[tier] = tuple(sorted(facts, key=lambda fact: (fact.created_at, fact.id)))
    return tiers


def _notable(fact: Fact) -> float:
    """Return the weight of a fact as an event, in [0, 1]."""
    return telling(fact) * _NOTABLE.get(fact.category, _OWN_NOTABLE)
