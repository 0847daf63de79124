"""Decay of memories with age, as pure functions of numbers or arrays. `now` is an argument.

    retention = max(0.1, 2^(-age / (half_life * endurance)))       1.0 for memories that never fade
    endurance = 1 + 3 * (1 - 2^(-strength / 4))                    1 to 4
    strength  = spaced uses + 2 * corroborations
    recency   = 1 + 0.5 * max(2^(-age / 7 days), 0.5 * 2^(-age of the last use / 7 days))
                                                                   1.5 at age 0, falling to 1.0
    standing  = prior of the category * confirmation
    confirmation = 1 + 0.3 * (1 - 2^-corroborations)               1 to 1.3
    relevance = importance * confidence * retention * recency * standing

Only categories that fade have a recency: an old preference is as good as one of yesterday.

Exponential forgetting with a half-life that grows with successful recall follows Settles & Meeder
(2016), "A Trainable Spaced Repetition Model for Language Learning". Uses close together count once
because of the spacing effect (Cepeda et al. 2006). A use counts half as much for recency as the
statement itself: what is often recalled would otherwise keep out what is new.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semantic_memory.domain.facts import PINNED, Category
from semantic_memory.domain.values import DAY

Reals = NDArray[np.float64]

LONGEST = 4.0
"""Largest factor by which uses and corroborations lengthen a half-life."""
_HALF_WAY = 4.0  # strength that gives half of the possible gain
_CORROBORATION = 2.0

HALF_LIFE_DAYS: Mapping[Category, float] = MappingProxyType(
    {
        Category.PREFERENCE: math.inf,
        Category.PERSONAL: math.inf,
        Category.FEEDBACK: math.inf,
        Category.PROJECT: 60.0,
        Category.TECHNICAL: 90.0,
        Category.DECISION: 30.0,
        Category.FINDING: 14.0,
        Category.REFERENCE: 180.0,
        Category.CONVERSATION: 7.0,
    }
)
"""Half-life by category, in days; infinite for categories that never fade."""


def half_life_of(category: Category, half_lives: Mapping[Category, float]) -> float:
    """Return the half-life of a category in days; one that isn't declared any more never fades."""
    return half_lives.get(category, math.inf)


PRIOR: Mapping[Category, float] = MappingProxyType({Category.FINDING: 0.5})
"""Weight in relevance where it isn't 1: what was found on the way is worth less than the rest."""


def prior_of(category: Category) -> float:
    """Return the weight of a category in relevance."""
    return PRIOR.get(category, 1.0)


_CONFIRMED = 0.3  # the largest gain from confirmation


@dataclass(frozen=True, slots=True)
class Curve:
    """Parameters of retention and recency."""

    floor: float = 0.1
    """The lowest retention."""
    boost: float = 0.5
    """The gain in recency of a memory that was just said."""
    boost_half_life_days: float = 7.0
    use_share: float = 0.5
    """The gain from a use, as a share of that from a statement of the same age."""


CURVE = Curve()
"""The default parameters."""


def age_days(then: ArrayLike, now: float) -> Reals:
    """Return the days from `then` to `now`, both in Unix seconds; 0 for future times."""
    return np.maximum(0.0, (now - np.asarray(then, dtype=np.float64)) / DAY)


def retention(
    age: ArrayLike, half_life: ArrayLike, curve: Curve = CURVE, floor: ArrayLike | None = None
) -> Reals:
    """Return the retention after `age` days, in [floor, 1]; `half_life` is in days.

    `floor` replaces that of the curve.
    """
    lowest = curve.floor if floor is None else floor
    return np.maximum(lowest, np.exp2(-np.maximum(0.0, age) / np.asarray(half_life, np.float64)))


def endurance(uses: int, corroborations: int, tags: Collection[str] = ()) -> float:
    """Return the factor on the half-life of a memory's category, in [1, 4); infinity if pinned.

    `uses` counts uses at least an hour apart, `corroborations` the sources beyond the first.
    """
    if PINNED in tags:
        return math.inf
    strength = uses + _CORROBORATION * corroborations
    return 1.0 + (LONGEST - 1.0) * (1.0 - math.exp2(-strength / _HALF_WAY))


def confirmation(corroborations: ArrayLike) -> Reals:
    """Return the gain of memories that were stated again, in [1, 1.3]."""
    repeated = np.asarray(corroborations, dtype=np.float64)
    gains: Reals = 1.0 + _CONFIRMED * (1.0 - np.exp2(-repeated))
    return gains


def recency(age: ArrayLike, used: ArrayLike = math.inf, curve: Curve = CURVE) -> Reals:
    """Return the boost for recent memories, in [1, 1 + boost].

    `age` is in days, and so is `used`, the age of the last use; infinity for none.
    """
    said = np.exp2(-np.maximum(0.0, age) / curve.boost_half_life_days)
    recalled = np.exp2(-np.maximum(0.0, used) / curve.boost_half_life_days)
    boosts: Reals = np.maximum(said, curve.use_share * recalled)
    return 1.0 + curve.boost * boosts
