"""When a session is read for facts: once it has gone quiet, or has gone on for long enough."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from semantic_memory.models import SessionKey


@dataclass
class _Waiting:
    first: float
    last: float
    messages: int


class DebounceQueue:
    """Sessions with something new, due after `quiet` seconds without more. Thread-safe.

    A session that doesn't go quiet is due `most_wait` seconds after its first new message, or with
    `most_messages` of them. Only keys are held here; what was said is on disk.
    """

    def __init__(self, quiet: float, most_wait: float, most_messages: int) -> None:
        self._quiet = quiet
        self._most_wait = most_wait
        self._most_messages = most_messages
        self._waiting: dict[SessionKey, _Waiting] = {}
        self._lock = threading.Lock()

    def push(self, key: SessionKey, now: float, messages: int = 1) -> None:
        """Something new in a session, at `now` seconds."""
        with self._lock:
            waiting = self._waiting.setdefault(key, _Waiting(first=now, last=now, messages=0))
            waiting.last = now
            waiting.messages += messages

    def take(self, now: float) -> list[SessionKey]:
        """The sessions that are due, which then wait no longer."""
        with self._lock:
            due = [key for key, waiting in self._waiting.items() if self._due(waiting) <= now]
            for key in due:
                del self._waiting[key]
            return due

    def take_all(self) -> list[SessionKey]:
        """Every session, due or not."""
        with self._lock:
            keys = list(self._waiting)
            self._waiting.clear()
            return keys

    def wait(self, now: float) -> float | None:
        """Seconds until the next one is due; None if there is none."""
        with self._lock:
            if not self._waiting:
                return None
            return max(0.0, min(map(self._due, self._waiting.values())) - now)

    def _due(self, waiting: _Waiting) -> float:
        if waiting.messages >= self._most_messages:
            return waiting.last
        return min(waiting.last + self._quiet, waiting.first + self._most_wait)
