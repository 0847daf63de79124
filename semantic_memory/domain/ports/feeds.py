"""Reading the ledger to fill an index, a partition, a large search, the embedder's queue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semantic_memory.domain.changes import FactVectors, Matrix
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
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
    follows: tuple[str, ...] = ()
    """Ids of the earlier statements that it probably changes."""


class TraitRow(NamedTuple):
    """A memory's columns, what it is found by in words, and its vectors."""

    trait: Trait
    stems: Sequence[str]
    """Those of its date, its speaker and its text, repeats included, in any order."""
    vectors: FactVectors | None
    """None while it isn't embedded yet."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A user's memories that changed after a revision of theirs."""

    revision: int
    """A partition is level with this revision once it has applied the delta."""
    rows: Sequence[TraitRow]
    removed: Sequence[int]
    """Numbers of forgotten memories."""


class Unindexed(NamedTuple):
    """A memory that the index lacks in the state that it has at a revision."""

    user_id: str
    num: int
    revision: int


@dataclass(frozen=True, slots=True)
class Outbox:
    """Memories that the index lacks, in their present state."""

    entries: Sequence[IndexEntry]
    removed: Sequence[str]
    taken: Sequence[Unindexed]
    """All of them, as they were read."""
    changes: int
    """Number of changes in the ledger when they were read. It only grows, in an embedded ledger: an
    index beside one tells by it which of both is an older copy."""


class PartitionFeed(Protocol):
    """Fills a user's partition in RAM and keeps it level."""

    def revision(self, user_id: str) -> int:
        """Return the number of the user's latest change; 0 before any."""
        ...

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`; all, without one."""
        ...

    def footprint(self, user_id: str) -> tuple[int, int]:
        """Return the number of the user's memories, and the bytes of their texts and vectors."""
        ...


class SyncFeed(Protocol):
    """Fills a vector index, and answers queries while the index lags.

    Each transaction notes which memories the index lacks from then on: those whose present state it
    may not hold. There is one index at a time.
    """

    def outbox(self, limit: int) -> Outbox:
        """Return at most `limit` of the memories that the index lacks, by user."""
        ...

    def note_indexed(
        self, done: Sequence[Unindexed], key: str, was: str | None, value: str
    ) -> bool:
        """Take memories that haven't changed since as indexed, and keep a small value with it.

        Those that have changed are still lacking. `value` is kept under `key`, as by `set_meta`, in
        the same transaction. Return False if the value there isn't `was`: another process follows
        too, and may have been overtaken, so that the index lacks all of `done`.
        """
        ...

    def unindex(self, key: str, value: str) -> None:
        """Take no memory as indexed, and keep a small value, in one transaction."""
        ...

    def count_unindexed(self) -> int:
        """Return the number of memories that the index lacks."""
        ...

    def unindexed(self, limit: int, user_id: str | None = None) -> set[str]:
        """Return the ids of at most `limit` memories that the index lacks, of a user or of all."""
        ...

    def held(self) -> tuple[int, int]:
        """Return how many memories the index holds at least, and at most."""
        ...

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        ...

    def similarities(
        self,
        vector: Matrix,
        user_id: str,
        filters: Filters,
        among: Collection[str] | None = None,
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in batches.

        Only of memories that pass `filters`, and have one of the ids in `among`, if given.
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

        Estimated from the frequencies among the memories of the user or of all users, forgotten
        ones included.
        """
        ...


class Traits(Protocol):
    """Reads the ranking columns of some memories, and of those around them."""

    def traits(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[TraitRow]:
        """Return the ranking columns of memories, in no order; forgotten ones are left out.

        Name the user if they are one's: a database of many users needn't look among all.
        """
        ...

    def neighbours(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions.

        Forgotten ones are left out. Name the user, as for `traits`.
        """
        ...


class Claimed(NamedTuple):
    """Memories to embed next."""

    facts: Sequence[Fact]
    others: bool = False
    """Others wait too, which other workers have claimed."""


class EmbeddingBacklog(Protocol):
    """Lists the memories that wait for their vectors."""

    def claim_unembedded(self, limit: int, seconds: float) -> Claimed:
        """Return memories as `unembedded` does, which no other process is given for `seconds`.

        What this process claimed before may be claimed by others again.
        """
        ...

    def unembedded(self, limit: int) -> list[Fact]:
        """Return memories without vectors, oldest first; refused ones are left out."""
        ...

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        ...
