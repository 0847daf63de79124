"""Ranking of the newer of two facts first, if they give different figures for one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from semantic_memory.retrieval.bm25 import Scores

ALIKE = 0.5
"""Cosine from which two facts are taken to concern one thing."""
SHARE = 0.6
"""Share of the older one's score that the newer must have by itself."""

Reals = NDArray[np.float64]


def gains(
    rows: Sequence[int],
    figures: Mapping[int, frozenset[str]],
    similar: Scores,
    score: Reals,
    stated_at: Reals,
    asked: frozenset[str],
    *,
    alike: float = ALIKE,
    share: float = SHARE,
) -> dict[int, float]:
    """Return the gain in score by which a row comes just above the older ones it replaces.

    `rows` are facts with `figures`, `similar` their cosines to each other, shape (rows, rows);
    `score` and `stated_at` are by row. An older fact with one of the question's own figures
    (`asked`) keeps its place.
    """
    found: dict[int, float] = {}
    for place, row in enumerate(rows):
        own = figures[row]
        overtaken = [
            score[other]
            for beside, other in enumerate(rows)
            if similar[place, beside] >= alike
            and stated_at[other] < stated_at[row]
            and score[row] <= score[other]
            and score[row] >= share * score[other]
            and not own <= figures[other]
            and asked.isdisjoint(figures[other])
        ]
        if overtaken:
            found[row] = float(np.nextafter(max(overtaken), np.inf) - score[row])
    return found
