"""How memories fade: pure rules of age, given `now`. Each takes numbers or arrays of them.

    retention = max(0.1, 2^(-age / (half_life * endurance)))       1.0 for what never fades
    endurance = 1 + 3 * (1 - 2^(-strength / 4))                    1 to 4
    strength  = spaced uses + 2 * corroborations
    recency   = 1 + 0.5 * 2^(-age / 7 days)                        1.5 just now, 1.0 long ago
    relevance = importance * confidence * retention * recency

The half-life form of exponential forgetting is Ebbinghaus' curve as Settles & Meeder (2016, "A
Trainable Spaced Repetition Model for Language Learning") write it; as there, the half-life grows
with successful recall. That repetition close together adds nothing is the spacing effect (Cepeda et
al. 2006).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semantic_memory.domain.facts import Category

Reals = NDArray[np.float64]

DAY = 86_400.0
FLOOR = 0.1
LONGEST = 4.0
"""How many times use and confirmation can stretch a half-life."""
PINNED = "pinned"
"""The tag of facts that never fade and are never put away."""
RECENCY_GAIN = 0.5
RECENCY_HALF_LIFE_DAYS = 7.0
_HALF_WAY = 4.0  # strength that gives half of what can be gained
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
"""Half-life by category, in days; infinite for what never fades."""


def age_days(then: ArrayLike, now: float) -> Reals:
    """Days from `then` to `now`, both Unix seconds; 0 for what lies in the future."""
    return np.maximum(0.0, (now - np.asarray(then, dtype=np.float64)) / DAY)


def retention(age: ArrayLike, half_life: ArrayLike) -> Reals:
    """What `age` days have left of a memory, in [0.1, 1]."""
    return np.maximum(FLOOR, np.exp2(-np.maximum(0.0, age) / np.asarray(half_life, np.float64)))


def endurance(uses: int, corroborations: int, tags: Collection[str] = ()) -> float:
    """How many times its category's half-life a memory lasts, 1 to 4; infinity if it is pinned.

    `uses` are those at least an hour apart, `corroborations` the further places where it was said.
    """
    if PINNED in tags:
        return math.inf
    strength = uses + _CORROBORATION * corroborations
    return 1.0 + (LONGEST - 1.0) * (1.0 - math.exp2(-strength / _HALF_WAY))


def recency(age: ArrayLike) -> Reals:
    """Boost for what was said lately, in [1.0, 1.5]."""
    gone = np.maximum(0.0, np.asarray(age, dtype=np.float64)) / RECENCY_HALF_LIFE_DAYS
    return 1.0 + RECENCY_GAIN * np.exp2(-gone)
