"""The clock, the observer of events, the report of progress."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from semantic_memory.domain.events import Event

Progress = Callable[[str, int, int], None]
"""Report the step of a long task, how much of it is done, and its total (0: unknown)."""


class Clock(Protocol):
    """The source of time. Nothing else reads the wall clock."""

    def now(self) -> datetime:
        """Return the present, timezone-aware."""
        ...


class Observer(Protocol):
    """Receives events. Must be quick and must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take note of `event`."""
        ...
