"""Ranking of the newer of two facts first, if they give different figures for one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.tables import phrase_list
from semantic_memory.domain.text import figures, stems
from semantic_memory.retrieval.bm25 import Scores

ALIKE = 0.5
"""Cosine from which two facts are taken to concern one thing."""
SHARE = 0.6
"""Share of the older one's score that the newer must have by itself."""

Reals = NDArray[np.float64]


# spans of time, and the "others" with whom a speaker does something
_SHARED_BY_MOST = frozenset(
    stem
    for span in (*phrase_list("calendar.spans"), *phrase_list("calendar.day_parts"), "others")
    for stem in stems(span)
)


class Telling(NamedTuple):
    """The figures of a fact, and the stems of what it gives them for."""

    figures: frozenset[str]
    topic: frozenset[str]


def telling(content: str, speaker: str | None = None) -> Telling | None:
    """Read a fact, said by `speaker`; None if it gives no figure.

    >>> told = telling("Maya's talk is on 18 June")
    >>> sorted(told.figures), sorted(told.topic)
    (['18', 'june'], ['talk'])
    """
    values = figures(content)
    if not values:
        return None
    apart = {stem for text in (*names(content), *values, speaker or "") for stem in stems(text)}
    return Telling(values, frozenset(stems(content)) - apart - _SHARED_BY_MOST)


def gains(
    rows: Sequence[int],
    told: Mapping[int, Telling],
    similar: Scores,
    score: Reals,
    stated_at: Reals,
    asked: frozenset[str],
    *,
    alike: float = ALIKE,
    share: float = SHARE,
) -> dict[int, float]:
    """Return the gain in score by which a row comes just above the older ones it replaces.

    `rows` are facts with figures, which `told` gives by row; `similar` are their cosines to each
    other, shape (rows, rows); `score` and `stated_at` are by row. An older fact with one of the
    question's own figures (`asked`) keeps its place, and so does one with which the newer shares a
    name at most.
    """
    found: dict[int, float] = {}
    for place, row in enumerate(rows):
        own = told[row]
        overtaken = [
            score[other]
            for beside, other in enumerate(rows)
            if similar[place, beside] >= alike
            and stated_at[other] < stated_at[row]
            and score[row] <= score[other]
            and score[row] >= share * score[other]
            and not own.figures <= told[other].figures
            and asked.isdisjoint(told[other].figures)
            and not own.topic.isdisjoint(told[other].topic)
        ]
        if overtaken:
            found[row] = float(np.nextafter(max(overtaken), np.inf) - score[row])
    return found
