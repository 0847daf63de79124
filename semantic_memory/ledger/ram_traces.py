"""Traces in RAM, for stores that keep nothing in files of their own."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from semantic_memory.domain.ports.traces import TraceRow


class RamTraces:
    """`Traces` that end with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: list[TraceRow] = []

    def keep(self, rows: Sequence[TraceRow], *, since: int, most: int) -> None:
        """Add traces, and drop the oldest."""
        with self._lock:
            kept = [row for row in (*self._rows, *rows) if row.number >= since]
            self._rows = kept[-most:] if most else []

    def latest(self, user_id: str, limit: int, *, since: int) -> list[TraceRow]:
        """Return a user's traces, the latest first."""
        with self._lock:
            own = [one for one in self._rows if one.user_id == user_id and one.number >= since]
        return own[::-1][:limit]

    def one(self, number: int) -> TraceRow | None:
        """Return a trace."""
        with self._lock:
            return next((row for row in self._rows if row.number == number), None)

    def forget_words(self, user_id: str) -> None:
        """Erase the words of a user's traces."""
        with self._lock:
            self._rows = [
                row._replace(words="") if row.user_id == user_id else row for row in self._rows
            ]

    def erase(self, user_id: str) -> None:
        """Erase a user's traces."""
        with self._lock:
            self._rows = [row for row in self._rows if row.user_id != user_id]

    def close(self) -> None:
        """Drop them all."""
        with self._lock:
            self._rows = []
