"""Keeping an index level with the ledger, and the ledger in place of one that no disk may keep."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import Protocol

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Match, Progress, SyncFeed


class Keeper(Protocol):
    """Keeps an index level with the ledger, and answers queries."""

    @property
    def name(self) -> str:
        """The index in one word; `none` without one."""
        ...

    @property
    def behind(self) -> int:
        """Number of memories that `sync` has to bring in."""
        ...

    def inspect(self) -> None:
        """Look for damage without opening the index."""
        ...

    def sync(self, progress: Progress | None = None) -> None:
        """Bring the index level with the ledger."""
        ...

    def reset(self) -> None:
        """Give the index up; the next `sync` fills it."""
        ...

    def purge(self) -> None:
        """Delete an index that keeps the text of deleted memories, with what was set aside."""
        ...

    def rebuild(self, progress: Progress | None = None) -> int:
        """Fill the index again; return how many memories it then holds."""
        ...

    def differences(self) -> tuple[set[str], set[str]]:
        """Return the ids that the index lacks, and those that only it has."""
        ...

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the nearest memories."""
        ...

    def close(self) -> None:
        """Close the index."""
        ...


class LedgerKeeper:
    """A `Keeper` without an index: it compares a query with every vector in the ledger."""

    name = "none"
    behind = 0

    def __init__(self, ledger: SyncFeed) -> None:
        self._ledger = ledger

    def inspect(self) -> None:
        """Do nothing: there is no index."""

    def sync(self, progress: Progress | None = None) -> None:
        """Do nothing: there is no index."""

    def reset(self) -> None:
        """Do nothing: there is no index."""

    def purge(self) -> None:
        """Do nothing: there is no index."""

    def rebuild(self, progress: Progress | None = None) -> int:
        """Return the number of memories with vectors."""
        del progress
        return len(self._ledger.embedded_ids())

    def differences(self) -> tuple[set[str], set[str]]:
        """Return nothing: the ledger agrees with itself."""
        return set(), set()

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the nearest memories of a user, exactly."""
        return scan(self._ledger, vector, user_id, limit, filters)

    def close(self) -> None:
        """Do nothing: there is no index."""


def scan(
    ledger: SyncFeed,
    vector: Matrix,
    user_id: str,
    limit: int,
    filters: Filters,
    among: Collection[str] | None = None,
) -> list[Match]:
    """Return the nearest of a user's memories, or of those `among` some ids, by their vectors."""
    best: list[Match] = []
    for matches in ledger.similarities(vector, user_id, filters, among):
        best = heapq.nlargest(limit, [*best, *matches], key=lambda match: match.similarity)
    return best
