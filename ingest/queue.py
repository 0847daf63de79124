"""When a session is read for facts: once it has gone quiet, or has gone on for long enough."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import NamedTuple

from semantic_memory.domain.messages import SessionKey


class Due(NamedTuple):
    """A session whose turn it is, and how many messages had been announced when that was said."""

    key: SessionKey
    messages: int


@dataclass
class _Waiting:
    first: float
    last: float
    messages: int = 0


class DebounceQueue:
    """Sessions with something new, due after `quiet` seconds without more. Thread-safe.

    A session that doesn't go quiet is due `most_wait` seconds after its first new message, or with
    `most_messages` of them. It waits on until `done` says that it has been read, so whoever fails
    half way loses none. Only keys are held here; what was said is on disk.
    """

    def __init__(self, quiet: float, most_wait: float, most_messages: int) -> None:
        self._quiet = quiet
        self._most_wait = most_wait
        self._most_messages = most_messages
        self._waiting: dict[SessionKey, _Waiting] = {}
        self._next = math.inf  # when `wait` said that the next one is due
        self._lock = threading.Lock()

    def push(self, key: SessionKey, now: float, messages: int = 1) -> bool:
        """Something new in a session, at `now` seconds.

        Returns whether it is due before the time that `wait` named last.
        """
        with self._lock:
            waiting = self._waiting.setdefault(key, _Waiting(first=now, last=now))
            waiting.last = max(now, waiting.last)
            waiting.messages += messages
            return self._time(waiting) < self._next

    def due(self, now: float) -> list[Due]:
        """The sessions whose turn it is."""
        with self._lock:
            return [
                Due(key, waiting.messages)
                for key, waiting in self._waiting.items()
                if self._time(waiting) <= now
            ]

    def all(self) -> list[Due]:
        """Every session, due or not."""
        with self._lock:
            return [Due(key, waiting.messages) for key, waiting in self._waiting.items()]

    def done(self, due: Due) -> None:
        """A session has been read; it waits on only for what came in meanwhile."""
        with self._lock:
            waiting = self._waiting.get(due.key)
            if waiting is None or waiting.messages <= due.messages:
                self._waiting.pop(due.key, None)
            else:
                waiting.messages -= due.messages
                waiting.first = waiting.last

    def retry(self, key: SessionKey, at: float) -> None:
        """A session could not be read; it is due at `at`, not before."""
        with self._lock:
            if key in self._waiting:
                self._waiting[key] = _Waiting(first=at, last=at - self._quiet)

    def drop(self, key: SessionKey) -> None:
        """A session is gone."""
        with self._lock:
            self._waiting.pop(key, None)

    def wait(self, now: float) -> float | None:
        """Seconds until the next one is due; None if there is none."""
        with self._lock:
            self._next = min(map(self._time, self._waiting.values()), default=math.inf)
            return None if not self._waiting else max(0.0, self._next - now)

    def _time(self, waiting: _Waiting) -> float:
        if waiting.messages >= self._most_messages:
            return waiting.last
        return min(waiting.last + self._quiet, waiting.first + self._most_wait)
