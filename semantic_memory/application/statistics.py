"""Count the contents of a store."""

from __future__ import annotations

from collections.abc import Callable

from semantic_memory.domain.facts import Status
from semantic_memory.domain.ports import EmbedderIdentity, Ledger, SessionLog
from semantic_memory.domain.reports import Stats


class Statistics:
    """Count users, sessions, memories and bytes. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        embedder: EmbedderIdentity,
        size: Callable[[], int],
    ) -> None:
        """Count a store; `size` returns its bytes."""
        self._ledger = ledger
        self._log = log
        self._embedder = embedder
        self._size = size

    def users(self) -> list[str]:
        """Return every user with a memory."""
        return self._ledger.users()

    def stats(self) -> Stats:
        """Count the contents of the whole store."""
        logs = self._log.tally()
        tally = self._ledger.tally()
        return Stats(
            users=len(self._ledger.users()),
            sessions=logs.sessions,
            memories=self._ledger.count(),
            by_category_and_status=tally,
            unembedded=self._ledger.count_unembedded(),
            log_bytes=logs.size,
            store_bytes=self._size(),
            embedder=str(self._embedder),
            deleted=sum(n for name, n in tally.items() if name.endswith(f"/{Status.FORGOTTEN}")),
            items=self._ledger.count_items(),
            corrupt_lines=logs.corrupt_lines,
        )
