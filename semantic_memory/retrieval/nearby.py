"""Find newer statements about the subjects of older ones, and memories about one subject.

Nothing is judged here: whether a newer statement ends an older one is decided when it is written.
What comes with an older one is simply what its speaker said later about the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from semantic_memory.domain.english.names import names
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.text import stem_set
from semantic_memory.retrieval.bm25 import Scores
from semantic_memory.retrieval.order import top
from semantic_memory.retrieval.snapshot import Snapshot

OLDER = 10
"""Memories for which newer statements are looked for."""
NEAR = 0.2
"""Cosine from which a newer statement may be about the same subject, if it names it."""
NEARER = 0.3
"""Cosine from which one that is found as well may be, also if it names nothing of it."""
SURE = 0.55
"""Cosine from which any may be."""
ALIKE = 0.6
"""Cosine from which two memories are about one subject."""
FOUND = 25
"""Memories, of those found for a question, that are taken to bear on it."""
_SHARED = 2  # words
_EACH = 6  # newer statements of one memory
_LATEST = 4_096  # rows that are looked through


class Nearby(NamedTuple):
    """The surroundings of some memories, by their ids."""

    newer: Mapping[str, Sequence[tuple[str, float]]]
    """Newer statements of the same speaker with their cosines, the nearest first."""
    alike: frozenset[tuple[str, str]]
    """Pairs that are about one subject."""


NOTHING_NEAR = Nearby({}, frozenset())


def nearby(snapshot: Snapshot, ids: Sequence[str]) -> Nearby:
    """Return what stands near memories, given best first, among the admitted ones of a snapshot."""
    if snapshot.windows is None:
        return NOTHING_NEAR
    columns = snapshot.columns
    known = snapshot.admitted & columns["embedded"]
    named = map(frozenset(ids).__contains__, snapshot.ids)
    places = {snapshot.ids[row]: row for row in compress(range(len(known)), named) if known[row]}
    rows = [places[one] for one in ids if one in places]
    if not rows:
        return NOTHING_NEAR
    similar = snapshot.alike(rows)
    first, second = np.nonzero(np.triu(similar >= ALIKE, k=1))
    alike = {
        (snapshot.ids[rows[one]], snapshot.ids[rows[other]])
        for one, other in zip(first.tolist(), second.tolist(), strict=True)
    }
    older = [row for row in rows[:OLDER] if columns["own"][row]]
    later = np.flatnonzero(known & columns["own"])[-_LATEST:]
    newer = _newer(snapshot, older, later)
    return Nearby(newer, frozenset(alike))


def is_about(newer: Fact, older: Fact, cosine: float, *, is_found: bool) -> bool:
    """Return whether a newer statement is about the subject of an older one.

    One that is little like it must name it, or share two words with it, or be found as well.
    """
    if cosine >= (NEARER if is_found else SURE):
        return True
    one, other = _worded(newer.content), _worded(older.content)
    shared = one.stems & other.stems
    if len(shared) >= _SHARED:
        return True
    named = shared & (one.names | other.names)
    speakers = " ".join(fact.source.speaker or "" for fact in (newer, older))
    return bool(named) and not named.issubset(stem_set(speakers))


class _Worded(NamedTuple):
    stems: frozenset[str]
    names: frozenset[str]
    """Stems of the names."""


@lru_cache(maxsize=8_192)
def _worded(text: str) -> _Worded:
    named = (stem for name in names(text) for stem in stem_set(name))
    return _Worded(stem_set(text), frozenset(named))


def _newer(
    snapshot: Snapshot, older: Sequence[int], later: np.ndarray
) -> dict[str, Sequence[tuple[str, float]]]:
    columns, windows = snapshot.columns, snapshot.windows
    if windows is None or not older or not len(later):
        return {}
    is_later = columns["stated_at"][later] > columns["stated_at"][list(older)].min()
    later = later[is_later]
    if not len(later):
        return {}
    similar = windows.cosines(older, later)
    found: dict[str, Sequence[tuple[str, float]]] = {}
    for row, cosines in zip(older, similar, strict=True):
        follows = (
            (columns["stated_at"][later] > columns["stated_at"][row])
            & (columns["speaker"][later] == columns["speaker"][row])
            & (cosines >= NEAR)
        )
        if nearest := _distinct(snapshot, row, later[follows], cosines[follows]):
            found[snapshot.ids[row]] = [(snapshot.ids[one], cosine) for one, cosine in nearest]
    return found


def _distinct(
    snapshot: Snapshot, older: int, rows: np.ndarray, cosines: Scores
) -> list[tuple[int, float]]:
    """Return the nearest rows, of a message and the facts drawn from it only the first."""
    told = set(snapshot.said_in[older])
    found: list[tuple[int, float]] = []
    for place in top(cosines, 4 * _EACH).tolist():
        row = int(rows[place])
        said_in = snapshot.said_in[row]
        if told.isdisjoint(said_in):
            told.update(said_in)
            found.append((row, float(cosines[place])))
            if len(found) == _EACH:
                break
    return found
