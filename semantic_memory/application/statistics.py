"""Count the contents of a store."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from semantic_memory.domain.facts import Status
from semantic_memory.domain.ports import EmbedderIdentity, Ledger, SessionLog
from semantic_memory.domain.reports import Stats


class Statistics:
    """Count users, sessions, memories and bytes. Thread-safe."""

    def __init__(
        self, ledger: Ledger, log: SessionLog, embedder: EmbedderIdentity, data_dir: Path
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._embedder = embedder
        self._data_dir = data_dir

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
            store_bytes=_bytes_in(self._data_dir),
            embedder=str(self._embedder),
            deleted=sum(n for name, n in tally.items() if name.endswith(f"/{Status.FORGOTTEN}")),
            items=self._ledger.count_items(),
            corrupt_lines=logs.corrupt_lines,
        )


def _bytes_in(directory: Path) -> int:
    """Add up the sizes of all files below a directory, while others may come and go."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(folder, name).stat().st_size
    return total
