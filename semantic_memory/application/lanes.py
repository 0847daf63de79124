"""Lanes of a webhook: one a user, whose events are sent in order, a few at a time.

A lane whose event is refused waits by itself; the others continue.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from semantic_memory.concurrency import Backoff
from semantic_memory.domain.feed import MemoryEvent


@dataclass(slots=True)
class Lane:
    """The events of one user that wait, and the failures of the first ones."""

    waiting: deque[MemoryEvent] = field(default_factory=deque)
    failures: int = 0
    since: int = 0
    """Number of deliveries that had succeeded, in all lanes, when the first failure came."""


class Lanes:
    """Events between the feed and the threads that send them. Thread-safe."""

    def __init__(self, at_once: int, backoff: Backoff) -> None:
        """`at_once` is the most events of a lane that are sent in one message."""
        self._at_once = at_once
        self._backoff = backoff
        self._changed = threading.Condition()
        self._lanes: dict[str, Lane] = {}
        self._ready: deque[str] = deque()
        self._later: list[tuple[float, int, str]] = []
        self._ticket = count()
        self._open: dict[int, None] = {}  # in ascending order
        self._read = 0
        self._delivered = 0
        self._ended = False

    def put(self, events: Sequence[MemoryEvent], read: int) -> None:
        """Queue events, in their order; `read` is the place behind all that were looked at."""
        with self._changed:
            for event in events:
                self._open[event.id] = None
                lane = self._lanes.get(event.user_id)
                if lane is None:
                    lane = self._lanes[event.user_id] = Lane()
                    self._ready.append(event.user_id)
                lane.waiting.append(event)
            self._read = read
            self._changed.notify_all()

    def place(self) -> int:
        """Return the place behind which nothing is done with."""
        with self._changed:
            return next(iter(self._open)) - 1 if self._open else self._read

    def __len__(self) -> int:
        """The number of events that aren't done with."""
        return len(self._open)

    def take(self) -> tuple[str, list[MemoryEvent]] | None:
        """Wait for a lane that may send; return its first events, None at the end."""
        with self._changed:
            while not self._ended:
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._ready.append(heapq.heappop(self._later)[2])
                if self._ready:
                    user_id = self._ready.popleft()
                    waiting = self._lanes[user_id].waiting
                    return user_id, [waiting[n] for n in range(min(len(waiting), self._at_once))]
                self._changed.wait(self._later[0][0] - now if self._later else None)
        return None

    def done(self, user_id: str, number: int, *, delivered: bool = True) -> None:
        """Take the first events off a lane, as they were delivered or given up."""
        with self._changed:
            lane = self._lanes[user_id]
            for _ in range(number):
                del self._open[lane.waiting.popleft().id]
            lane.failures = 0
            self._delivered += number if delivered else 0
            if lane.waiting:
                self._ready.append(user_id)
            else:
                del self._lanes[user_id]
            self._changed.notify_all()

    def failed(self, user_id: str) -> tuple[int, bool]:
        """Count a failure of a lane.

        Return how many there were in a row, and whether others had success since the first.
        """
        with self._changed:
            lane = self._lanes[user_id]
            if not lane.failures:
                lane.since = self._delivered
            lane.failures += 1
            return lane.failures, self._delivered > lane.since

    def wait(self, user_id: str, failures: int) -> float:
        """Let a lane wait for its next try; return the seconds."""
        pause = self._backoff.pause(failures)
        with self._changed:
            heapq.heappush(self._later, (time.monotonic() + pause, next(self._ticket), user_id))
            self._changed.notify_all()
        return pause

    def end(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
