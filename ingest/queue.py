"""Queue of the sessions to extract: once quiet, or after a time or a number of messages."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import NamedTuple

from semantic_memory.domain.messages import SessionKey


class Due(NamedTuple):
    """A session that is due, with the number of messages announced so far."""

    key: SessionKey
    messages: int


@dataclass
class _Waiting:
    first: float
    last: float
    messages: int = 0


class DebounceQueue:
    """Queue of sessions with new messages, due after `quiet` seconds without more. Thread-safe.

    A session that doesn't go quiet is due `most_wait` seconds after its first new message, or when
    it has `most_messages` of them. It stays in the queue until `done`, so a failure loses nothing.
    The queue holds keys only; the messages are in the session log.
    """

    def __init__(self, quiet: float, most_wait: float, most_messages: int) -> None:
        self._quiet = quiet
        self._most_wait = most_wait
        self._most_messages = most_messages
        self._waiting: dict[SessionKey, _Waiting] = {}
        self._next = math.inf  # due time of the next session, as last returned by `wait`
        self._lock = threading.Lock()

    def push(self, key: SessionKey, now: float, messages: int = 1) -> bool:
        """Announce new messages of a session, at `now` seconds.

        Returns True if the session is due before the time that `wait` returned last.
        """
        with self._lock:
            waiting = self._waiting.setdefault(key, _Waiting(first=now, last=now))
            waiting.last = max(now, waiting.last)
            waiting.messages += messages
            return self._time(waiting) < self._next

    def due(self, now: float) -> list[Due]:
        """Return the sessions that are due."""
        with self._lock:
            return [
                Due(key, waiting.messages)
                for key, waiting in self._waiting.items()
                if self._time(waiting) <= now
            ]

    def all(self) -> list[Due]:
        """Return every session, due or not."""
        with self._lock:
            return [Due(key, waiting.messages) for key, waiting in self._waiting.items()]

    def done(self, due: Due) -> None:
        """Remove a session that has been extracted, unless messages have come in meanwhile."""
        with self._lock:
            waiting = self._waiting.get(due.key)
            if waiting is None or waiting.messages <= due.messages:
                self._waiting.pop(due.key, None)
            else:
                waiting.messages -= due.messages
                waiting.first = waiting.last

    def retry(self, key: SessionKey, at: float) -> None:
        """Postpone a session that could not be extracted until `at`."""
        with self._lock:
            if key in self._waiting:
                self._waiting[key] = _Waiting(first=at, last=at - self._quiet)

    def drop(self, key: SessionKey) -> None:
        """Remove a session."""
        with self._lock:
            self._waiting.pop(key, None)

    def wait(self, now: float) -> float | None:
        """Return the seconds until the next session is due; None if there is none."""
        with self._lock:
            self._next = min(map(self._time, self._waiting.values()), default=math.inf)
            return None if not self._waiting else max(0.0, self._next - now)

    def _time(self, waiting: _Waiting) -> float:
        if waiting.messages >= self._most_messages:
            return waiting.last
        return min(waiting.last + self._quiet, waiting.first + self._most_wait)
