"""Reading the ledger to fill an index, a partition, a large search, the embedder's queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semantic_memory.domain.changes import FactVectors, Matrix
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports.changes import Revisions
from semantic_memory.domain.ports.vectors import IndexEntry, Match


class Trait(NamedTuple):
    """The columns of a memory that ranking and filtering read; times are Unix seconds."""

    num: int
    id: str
    session_id: str | None
    position: int | None
    role: str | None
    speaker: str | None
    category: str
    status: str
    content: str
    """With the text of the body."""
    confidence: float
    importance: float
    created_at: float
    stated_at: float
    used_at: float
    """Minus infinity for a fact that was never used."""
    valid_from: float
    valid_to: float
    """Infinity for a fact that is still believed."""
    expires_at: float
    """Infinity for a fact without such a time."""
    tags: tuple[str, ...]
    said_in: tuple[str, ...]
    """`session/message` for every message with this statement."""
    agent_id: str
    """Empty for a memory of no agent, as `run_id` is for one of no run."""
    run_id: str
    endurance: float
    """Multiple of its category's half-life: see `semantic_memory.domain.decay`."""
    corroborations: int = 0
    """Number of sources beyond the first."""


class TraitRow(NamedTuple):
    """A memory's columns with its vectors; None while it isn't embedded yet."""

    trait: Trait
    vectors: FactVectors | None


@dataclass(frozen=True, slots=True)
class Delta:
    """A user's memories that changed after a revision."""

    revision: int
    """A partition is level with this revision once it has applied the delta."""
    rows: Sequence[TraitRow]
    removed: Sequence[int]
    """Numbers of forgotten memories."""


@dataclass(frozen=True, slots=True)
class Outbox:
    """A batch of changes for an index."""

    revision: int
    """The index is level with this revision once the batch is applied."""
    entries: Sequence[IndexEntry]
    removed: Sequence[str]


class PartitionFeed(Protocol):
    """Fills a user's partition in RAM and keeps it level."""

    def revision(self, user_id: str | None = None) -> int:
        """Return the number of the latest change, of one user or of all; 0 before any."""
        ...

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`; all, without one."""
        ...

    def footprint(self, user_id: str) -> tuple[int, int]:
        """Return the number of the user's memories, and the bytes of their texts and vectors."""
        ...


class SyncFeed(Revisions, Protocol):
    """Fills a vector index, and answers queries while the index lags."""

    def outbox(self, since: int, limit: int) -> Outbox:
        """Return the next changes that an index at revision `since` lacks, in order."""
        ...

    def held_at(self, revision: int) -> tuple[int, int]:
        """Return how many memories an index at `revision` holds at least, and at most."""
        ...

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        ...

    def similarities(
        self, vector: Matrix, user_id: str, filters: Filters, since: int = 0
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in batches.

        Only of memories that pass `filters` and changed after revision `since`.
        """
        ...


class WordSearch(Protocol):
    """Finds memories by words."""

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the memories holding any of `terms`, by BM25, best first.

        Terms match by their stems. Scores of one call can be compared with each other only.
        """
        ...

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """Return the number of a user's memories, and about how many hold each stemmed word.

        Estimated from the frequencies among all users' memories, forgotten ones included.
        """
        ...


class Traits(Protocol):
    """Reads the ranking columns of some memories, and of those around them."""

    def traits(self, fact_ids: Sequence[str]) -> list[TraitRow]:
        """Return the ranking columns of memories, in no order; forgotten ones are left out."""
        ...

    def neighbours(self, fact_ids: Sequence[str]) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions.

        Forgotten ones are left out.
        """
        ...


class EmbeddingBacklog(Protocol):
    """Lists the memories that wait for their vectors."""

    def unembedded(self, limit: int) -> list[Fact]:
        """Return memories without vectors, oldest first; refused ones are left out."""
        ...

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        ...
