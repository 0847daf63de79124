"""Half-lives and floors of a snapshot's rows, with those of sessions that have their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.decay import half_life_of
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import SessionOptions
from semantic_memory.retrieval.snapshot import Snapshot

Reals = NDArray[np.float64]


def by_row(
    snapshot: Snapshot,
    half_lives: Mapping[Category, float],
    floor: float,
    own: Mapping[str, SessionOptions],
) -> tuple[Reals, Reals]:
    """Return the half-life in days and the lowest retention of each row, shape (rows,) both.

    `half_lives` are those of the categories, `floor` that of all; `own` has the options of sessions
    that replace them.
    """
    categories, names = snapshot.columns["category"], snapshot.categories
    lasting = np.array([half_life_of(name, half_lives) for name in names])
    days, floors = lasting[categories], np.full(len(snapshot), floor)
    for session_id, options in own.items():
        rows = snapshot.columns["session_id"] == snapshot.session_codes.get(session_id, -2)
        if options.floor is not None:
            floors[rows] = options.floor
        for category, half_life in options.half_life_days.items():
            if category in names:
                days[rows & (categories == names.index(category))] = half_life
    return days, floors
