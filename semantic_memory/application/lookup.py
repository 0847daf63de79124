"""Look memories up: one by its id, its states, or a page of a user's."""

from __future__ import annotations

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.requests import GetRequest, HistoryRequest, ListRequest


class Lookup:
    """Return memories as the ledger holds them. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def get(self, asked: GetRequest) -> Fact:
        """Return a memory. Raises NotFoundError, also for a deleted one."""
        return one_fact(self._ledger, asked.fact_id, asked.user_id)

    def find(self, asked: ListRequest) -> list[Fact]:
        """Return a user's memories, newest first. Raises NotFoundError for an unknown `after`."""
        return self._ledger.find(
            asked.user_id,
            asked.filters,
            status=None if asked.status is None else Status(asked.status),
            limit=asked.limit,
            after=asked.after,
        )

    def history(self, asked: HistoryRequest) -> list[FactVersion]:
        """Return every state of a memory, oldest first. Raises NotFoundError."""
        return self._ledger.history(asked.fact_id, asked.user_id)


def one_fact(ledger: Ledger, fact_id: str, user_id: str | None) -> Fact:
    """Return a memory if it is the user's; None stands for every user. Raises NotFoundError."""
    found = ledger.get([fact_id], user_id)
    if not found:
        raise NotFoundError(f"no memory {fact_id!r}")
    return found[0]
