"""The vector index: searched by similarity, filled from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters


class Match(NamedTuple):
    """A memory's id and its similarity; higher is better."""

    id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A memory as an index holds it."""

    fact: Fact
    windows: Matrix


class VectorSearch(Protocol):
    """Finds memories by cosine similarity."""

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the user's `limit` nearest memories that pass `filters`, best first.

        `vector` has shape (dimension,) and unit length. Similarity is the cosine to the memory's
        nearest window, in [-1, 1]. Filters by words, metadata and ids may raise ValueError.
        """
        ...


class VectorIndex(VectorSearch, Protocol):
    """Holds the vectors of one store. Derived from the ledger, and refilled when in doubt.

    Queries come from several threads, also during a write. Any method raises IndexUnavailableError
    if the index can't be reached at present, IndexBusyError if it is occupied, and IndexBrokenError
    if its content can't be trusted; it is then refilled.
    """

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace memories. Idempotent."""
        ...

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete memories; unknown ids are ignored."""
        ...

    def ids(self) -> set[str]:
        """Return the ids of all memories held."""
        ...

    def count(self) -> int:
        """Return the number of memories held."""
        ...

    def close(self) -> None:
        """Release files and handles."""
        ...
