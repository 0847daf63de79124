"""Ranking of the newer of two facts about one thing first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.tables import phrase_list
from semantic_memory.domain.text import figures, stems
from semantic_memory.retrieval.bm25 import Scores
from semantic_memory.retrieval.growing import Columns
from semantic_memory.retrieval.snapshot import Snapshot

ALIKE = 0.5
"""Cosine from which two facts are taken to concern one thing."""
SHARE = 0.6
"""Share of the older one's score that the newer must have by itself."""

_SAME = 0.6
"""Cosine from which two facts of one category are taken to be about the same, whatever they say."""
_STRENGTH = 3.0
"""Share of the older one's score, relative to the weight of relevance, that a newer may lack."""

LEADING = 5
"""Number of the best memories above which those come that follow them."""
FOLLOWS = 0.5
"""Share of the score of what a statement follows that it needs by itself: a statement may change
what was said before, and yet be no answer to the question."""

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
    columns: Columns,
    weight: float,
    states: Callable[[Sequence[int]], Collection[int]],
) -> dict[int, float]:
    """Return the gain in score by which a fact comes just above others about the same.

    Age counts between states of one category and speaker about one thing, and hardly elsewhere: the
    newer comes first, or the one that was stated more often. `similar` are the cosines of `rows`,
    which are facts, shape (rows, rows); `weight` is that of relevance; `states` returns those of
    some rows that hold until they change, and is asked for the few that matter.
    """
    own = columns[rows]
    scores = score[rows]
    confirmed = own["corroborations"][:, None] > own["corroborations"][None, :]
    newer = own["stated_at"][:, None] > own["stated_at"][None, :]
    rivals = (
        (confirmed | (newer & ~confirmed.T))
        & (similar >= _SAME)
        & (own["category"][None, :] == own["category"][:, None])
        & (own["speaker"][None, :] == own["speaker"][:, None])
        & (own["own"][None, :] == own["own"][:, None])
        & (scores[None, :] >= scores[:, None])
        & (scores[:, None] >= (1.0 - _STRENGTH * weight) * scores[None, :])
    )
    if not rivals.any():
        return {}
    involved = np.flatnonzero(rivals.any(axis=0) | rivals.any(axis=1)).tolist()
    holding = states([rows[place] for place in involved])
    passing = [place for place in involved if rows[place] not in holding]
    rivals[passing] = False
    rivals[:, passing] = False
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


def following(snapshot: Snapshot, score: Reals, best: Sequence[int]) -> dict[int, float]:
    """Return the gain in score by which statements come just above the leading ones they follow.

    `best` are the rows of the highest `score`, best first. A statement stands where the better of
    its fact and its messages stands.
    """
    said: dict[str, float] = {}
    for row in best:
        if snapshot.columns["verbatim"][row]:
            said.update(dict.fromkeys(snapshot.said_in[row], float(score[row])))
    raised: dict[int, float] = {}

    def standing(row: int) -> float:
        own = raised.get(row, float(score[row]))
        return max([own, *(said.get(place, own) for place in snapshot.said_in[row])])

    stated_at = snapshot.columns["stated_at"]
    waiting = [
        (float(stated_at[row]), row)
        for row in best
        if snapshot.ids[row] in snapshot.followed_by
        and standing(row) >= score[best[min(LEADING, len(best)) - 1]]
    ]
    heapify(waiting)
    done: set[int] = set()
    while waiting:
        _, older = heappop(waiting)
        if older in done:  # it follows several
            continue
        done.add(older)
        for newer in snapshot.followed_by.get(snapshot.ids[older], ()):
            if not snapshot.admitted[newer] or score[newer] < FOLLOWS * standing(older):
                continue
            if standing(newer) <= standing(older):
                raised[newer] = float(np.nextafter(standing(older), np.inf))
            if newer not in done:
                heappush(waiting, (float(stated_at[newer]), newer))
    return {row: raised_to - float(score[row]) for row, raised_to in raised.items()}
