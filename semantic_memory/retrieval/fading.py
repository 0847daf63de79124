"""Half-lives and floors of a snapshot's rows, with those of sessions that have their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.messages import SessionOptions
from semantic_memory.retrieval.partition import CATEGORIES
from semantic_memory.retrieval.snapshot import Snapshot

Reals = NDArray[np.float64]


def by_row(
    snapshot: Snapshot, half_lives: Reals, floor: float, own: Mapping[str, SessionOptions]
) -> tuple[Reals, Reals]:
    """Return the half-life in days and the lowest retention of each row, shape (rows,) both.

    `half_lives` are those of the categories, `floor` that of all; `own` has the options of sessions
    that replace them.
    """
    categories = snapshot.columns["category"]
    days, floors = half_lives[categories], np.full(len(snapshot), floor)
    for session_id, options in own.items():
        rows = snapshot.columns["session_id"] == snapshot.session_codes.get(session_id, -2)
        if options.floor is not None:
            floors[rows] = options.floor
        for category, half_life in options.half_life_days.items():
            days[rows & (categories == CATEGORIES.index(category))] = half_life
    return days, floors
