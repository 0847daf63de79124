"""Recall and speed of an index on a server, against comparing every vector.

One large user and many small ones, with random vectors around centres, as texts have them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, VectorIndex
from semantic_memory.vectors.chroma.server import ChromaServer
from semantic_memory.vectors.home import IndexHome
from semantic_memory.vectors.sync import SeparatingIndex

_NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
_DIMENSION = 384
_CENTRES = 200
_SPREAD = 0.7  # of a vector's parts around its centre's, which are 1 wide
_BATCH = 256
_SMALL_USERS = 50
_SMALL = 100
_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Searched:
    """Recall@50 and the median time of queries of one kind, in milliseconds."""

    what: str
    recall: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Filled:
    """Seconds taken to fill the index and to hold the large user apart."""

    memories: int
    filling: float
    separating: float


def home_at(url: str) -> IndexHome:
    """Return the home of an index by the scheme of its URL, under a name of its own."""
    if url.startswith("http"):
        return ChromaServer(url, token="", name=f"eval{uuid4().hex[:8]}", sync_threshold=10_000)
    from semantic_memory.vectors.pgvector.home import PgvectorDatabase

    return PgvectorDatabase(url)


def measure_index(url: str, memories: int, queries: int) -> Iterator[Filled | Searched]:
    """Fill an index, and yield its speed and its recall; what it holds is deleted at the end."""
    dice = np.random.default_rng(0)
    centres = dice.normal(size=(_CENTRES, _DIMENSION))

    def draw(number: int) -> Matrix:
        near = centres[dice.integers(0, _CENTRES, number)]
        rows = near + _SPREAD * dice.normal(size=(number, _DIMENSION))
        unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    large = _entries("large", draw(memories))
    small = [_entries(f"small-{number}", draw(_SMALL)) for number in range(_SMALL_USERS)]
    asked = draw(queries)
    some = Filters(min_confidence=0.9)  # a tenth, see _entries
    with closing(home_at(url)) as home:
        home.empty()
        index = home.open("0")
        everything = [*large, *(one for entries in small for one in entries)]
        started = time.perf_counter()
        for start in range(0, len(everything), _BATCH):
            index.upsert(everything[start : start + _BATCH])
        filled = time.perf_counter()
        yield _searched("a user of 100 among many", index, small[0], asked)
        yield _searched("the large user, not yet apart", index, large, asked)
        began = time.perf_counter()
        if isinstance(index, SeparatingIndex):
            index.own("large")
        yield Filled(len(everything), filled - started, time.perf_counter() - began)
        yield _searched("the large user, apart", index, large, asked)
        yield _searched("a tenth of the large user's", index, large, asked, some)
        home.empty()


def _searched(
    what: str,
    index: VectorIndex,
    entries: Sequence[IndexEntry],
    asked: Matrix,
    filters: Filters = NO_FILTERS,
) -> Searched:
    user_id = entries[0].fact.user_id
    admitted = [entry for entry in entries if filters.admits(entry.fact)]
    vectors = np.concatenate([entry.windows for entry in admitted])
    recalls, times = [], []
    for vector in asked:
        nearest = np.argsort(-(vectors @ vector))[:_LIMIT]
        expected = {admitted[row].fact.id for row in nearest}
        started = time.perf_counter()
        found = index.query(vector, user_id=user_id, limit=_LIMIT, filters=filters)
        times.append((time.perf_counter() - started) * 1e3)
        recalls.append(len(expected & {match.id for match in found}) / len(expected))
    return Searched(what, statistics.mean(recalls), statistics.median(times))


def _entries(user_id: str, vectors: Matrix) -> list[IndexEntry]:
    """Return memories of a user, one for each vector; every tenth is confident."""
    return [
        IndexEntry(_fact(user_id, number, confident=number % 10 == 0), vectors[number : number + 1])
        for number in range(len(vectors))
    ]


def _fact(user_id: str, number: int, *, confident: bool) -> Fact:
    return Fact(
        id=f"{user_id}-{number}",
        user_id=user_id,
        content=f"Thing number {number}",
        category=Category.PROJECT,
        created_at=_NOW,
        recorded_at=_NOW,
        valid_from=_NOW,
        confidence=0.95 if confident else 0.5,
    )
