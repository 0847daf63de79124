"""A user's history from their facts, without a model: the facts worth telling, by their age.

All of the last 30 days that there is room for, then only the most central.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.profile import TIERS, HistoryTier, tier_of
from semantic_memory.profile.central import most_central, telling
from semantic_memory.profile.fields import Extent

_NOTABLE: Mapping[Category, float] = MappingProxyType(
    {
        Category.PROJECT: 1.0,
        Category.DECISION: 1.0,
        Category.FINDING: 0.9,
        Category.PERSONAL: 0.9,
        Category.TECHNICAL: 0.7,
        Category.REFERENCE: 0.5,
        Category.PREFERENCE: 0.4,
    }
)
"""How much of what happens is in a category; what was said of the assistant is no event."""
_LEAST = 0.3  # of being notable, below which a fact isn't told however much room there is


def derive_history(
    beliefs: Sequence[Belief],
    costs: Sequence[int],
    now: datetime,
    extents: Mapping[HistoryTier, Extent],
) -> dict[HistoryTier, tuple[Fact, ...]]:
    """The facts told in each tier, in the order in which they were said.

    `costs` are the tokens of each. Doesn't depend on the order of `beliefs`.
    """
    told: dict[HistoryTier, tuple[Fact, ...]] = {}
    notable = sorted(
        (
            (belief, cost, much)
            for belief, cost in zip(beliefs, costs, strict=True)
            if (much := _notable(belief.fact)) >= _LEAST
        ),
        key=lambda item: item[0].fact.id,
    )
    for tier in TIERS:
        own = [item for item in notable if tier_of(item[0].fact.created_at, now) == tier]
        chosen = most_central(
            [belief.vector for belief, _, _ in own],
            [much for _, _, much in own],
            [cost for _, cost, _ in own],
            most=extents[tier].sentences,
            room=extents[tier].tokens,
        )
        facts = [own[place][0].fact for place in chosen]
        told[tier] = tuple(sorted(facts, key=lambda fact: (fact.created_at, fact.id)))
    return told


def _notable(fact: Fact) -> float:
    """In [0, 1]."""
    return telling(fact) * _NOTABLE.get(fact.category, 0.0)
