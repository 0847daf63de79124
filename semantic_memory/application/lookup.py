"""Look memories up: one by its id, its states, or a page of a user's."""

from __future__ import annotations

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.requests import GetRequest, HistoryRequest, ListRequest
from semantic_memory.domain.retention import Expiry, Unexpired


class Lookup:
    """Return memories as the ledger holds them. Thread-safe."""

    def __init__(self, ledger: Ledger, expiry: Expiry) -> None:
        self._ledger = ledger
        self._expiry = expiry

    def get(self, asked: GetRequest) -> Fact:
        """Return a memory. Raises NotFoundError, also for a deleted or expired one."""
        return one_fact(self._ledger, asked.fact_id, asked.user_id, self._expiry.now)

    def find(self, asked: ListRequest) -> list[Fact]:
        """Return a user's memories in order. Raises NotFoundError for an unknown `after`."""
        return self._ledger.find(
            asked.user_id,
            asked.filters.unexpired(self._expiry.now),
            status=None if asked.status is None else Status(asked.status),
            limit=asked.limit,
            after=asked.after,
            sort=asked.sort,
        )

    def history(self, asked: HistoryRequest) -> list[FactVersion]:
        """Return every state of a memory, oldest first. Raises NotFoundError."""
        return self._ledger.history(asked.fact_id, asked.user_id)


def one_fact(
    ledger: Ledger, fact_id: str, user_id: str | None, unexpired: Unexpired | None = None
) -> Fact:
    """Return a memory if it is the user's and `unexpired`; no user stands for every one.

    Raises NotFoundError.
    """
    found = ledger.get([fact_id], user_id)
    if not found or (unexpired is not None and not unexpired.holds(found[0])):
        raise NotFoundError(f"no memory {fact_id!r}")
    return found[0]
