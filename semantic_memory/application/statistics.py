"""Count the contents of a store."""

from __future__ import annotations

from collections.abc import Callable

from ingest.session_log import SessionLog
from semantic_memory.domain.facts import Status
from semantic_memory.domain.ports import EmbedderIdentity, Ledger
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
        files = list(self._log.files())
        tally = self._ledger.tally()
        return Stats(
            users=len(self._ledger.users()),
            sessions=len(files),
            memories=self._ledger.count(),
            by_category_and_status=tally,
            unembedded=self._ledger.count_unembedded(),
            log_bytes=sum(size for _, size in files),
            store_bytes=self._size(),
            embedder=str(self._embedder),
            deleted=sum(n for name, n in tally.items() if name.endswith(f"/{Status.FORGOTTEN}")),
            items=self._ledger.count_items(),
            corrupt_lines=sum(self._log.corrupt_lines(path) for path, _ in files),
        )
