"""Keeping traces of recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class TraceRow(NamedTuple):
    """A trace as it is kept."""

    number: int
    """Microseconds since 1970 at which it was noted; a later trace has a higher number."""
    user_id: str
    head: str
    """Everything but figures and words, as JSON."""
    figures: bytes
    """Scores of the candidates and their parts, 32-bit floats."""
    words: str
    """The question; empty if it isn't kept."""


class Traces(Protocol):
    """Keeps the latest traces of all users. Thread-safe. Raises StoreUnavailableError."""

    def keep(self, rows: Sequence[TraceRow], *, since: int, most: int) -> None:
        """Add traces; delete those before `since`, and the oldest over `most`."""
        ...

    def latest(self, user_id: str, limit: int, *, since: int) -> list[TraceRow]:
        """Return a user's traces that aren't older than `since`, the latest first."""
        ...

    def one(self, number: int) -> TraceRow | None:
        """Return a trace."""
        ...

    def forget_words(self, user_id: str) -> None:
        """Erase the words of a user's traces, so that no byte of them is left."""
        ...

    def erase(self, user_id: str) -> None:
        """Erase a user's traces."""
        ...

    def close(self) -> None:
        """Release the place where they are kept."""
        ...
