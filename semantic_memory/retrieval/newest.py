"""Ranking of the newer of two facts about one thing first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

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

SAME = 0.6
"""Cosine from which two facts of one category are taken to be about the same, whatever they say."""
STRENGTH = 3.0
"""Share of the older one's score, relative to the weight of relevance, that a newer may lack."""

Reals = NDArray[np.float64]


# spans of time, and the "others" with whom a speaker does something
_SHARED_BY_MOST = frozenset(
    stem
    for span in (*phrase_list("calendar.spans"), *phrase_list("calendar.day_parts"), "others")
    for stem in stems(span)
)


class Figures(NamedTuple):
    """The figures of a fact, and the stems of what it gives them for."""

    figures: frozenset[str]
    topic: frozenset[str]


@lru_cache(maxsize=16_384)
def read_figures(content: str, speaker: str | None = None) -> Figures | None:
    """Read a fact, said by `speaker`; None if it gives no figure.

    >>> given = read_figures("Maya's talk is on 18 June")
    >>> sorted(given.figures), sorted(given.topic)
    (['18', 'june'], ['talk'])
    """
    values = figures(content)
    if not values:
        return None
    apart = {stem for text in (*names(content), *values, speaker or "") for stem in stems(text)}
    return Figures(values, frozenset(stems(content)) - apart - _SHARED_BY_MOST)


def fresher(
    rows: Sequence[int],
    similar: Scores,
    score: Reals,
    columns: NDArray[Any],
    weight: float,
    *,
    same: float = SAME,
    strength: float = STRENGTH,
) -> dict[int, float]:
    """Return the gain in score by which a fact comes just above others about the same.

    Age counts between facts of one category about one thing, and hardly elsewhere: the newer comes
    first, or the one that was stated more often. `similar` are the cosines of `rows`, which
    are facts, shape (rows, rows); `weight` is that of relevance.
    """
    own = columns[rows]
    scores = score[rows]
    confirmed = own["corroborations"][:, None] > own["corroborations"][None, :]
    newer = own["stated_at"][:, None] > own["stated_at"][None, :]
    rivals = (
        (confirmed | (newer & ~confirmed.T))
        & (similar >= same)
        & (own["category"][None, :] == own["category"][:, None])
        & (scores[None, :] >= scores[:, None])
        & (scores[:, None] >= (1.0 - strength * weight) * scores[None, :])
    )
    # of several that could come above a fact only the best: else all of a topic would rise
    found: dict[int, float] = {}
    for place in np.flatnonzero(rivals.any(axis=0)).tolist():
        best = max(
            np.flatnonzero(rivals[:, place]).tolist(),
            key=lambda one: (own["corroborations"][one], own["stated_at"][one]),
        )
        gain = float(np.nextafter(scores[place], np.inf) - scores[best])
        found[rows[best]] = max(gain, found.get(rows[best], 0.0))
    return found


def gains(
    rows: Sequence[int],
    given: Mapping[int, Figures],
    similar: Scores,
    score: Reals,
    stated_at: Reals,
    asked: frozenset[str],
    *,
    alike: float = ALIKE,
    share: float = SHARE,
) -> dict[int, float]:
    """Return the gain in score by which a row comes just above the older ones it replaces.

    `rows` are facts with figures, which `given` holds by row; `similar` are their cosines to each
    other, shape (rows, rows); `score` and `stated_at` are by row. An older fact with one of the
    question's own figures (`asked`) keeps its place, and so does one with which the newer shares a
    name at most.
    """
    found: dict[int, float] = {}
    for place, row in enumerate(rows):
        own = given[row]
        overtaken = [
            score[other]
            for beside, other in enumerate(rows)
            if similar[place, beside] >= alike
            and stated_at[other] < stated_at[row]
            and score[row] <= score[other]
            and score[row] >= share * score[other]
            and not own.figures <= given[other].figures
            and asked.isdisjoint(given[other].figures)
            and not own.topic.isdisjoint(given[other].topic)
        ]
        if overtaken:
            found[row] = float(np.nextafter(max(overtaken), np.inf) - score[row])
    return found
