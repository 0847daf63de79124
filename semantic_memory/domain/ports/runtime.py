"""The clock, the observer of events, and progress callbacks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from semantic_memory.domain.events import Event

Progress = Callable[[str, int, int], None]
"""Callback with the step of a long task, the amount done, and its total (0: unknown)."""


class Clock(Protocol):
    """The source of time. Nothing else reads the wall clock."""

    def now(self) -> datetime:
        """Return the present, timezone-aware."""
        ...


class Observer(Protocol):
    """Receives events. Must be quick and must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Receive `event`."""
        ...
