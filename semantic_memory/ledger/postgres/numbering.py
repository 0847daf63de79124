"""Numbering the events of the feed, some at a time.

A number drawn by a writer would be seen out of the order of drawing, and a follower would
pass over those that were committed late. So writers draw none: what has been committed is numbered
afterwards, under a lock, behind all that has a number. A thread of each process that writes does
so, and readers do for what it hasn't come to, for a second at most.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from semantic_memory.domain.errors import StoreError
from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.postgres.schema import lock_key
from semantic_memory.ledger.sql.events import LAST

AT_ONCE = 2_000
"""Events numbered in a transaction: about 50 ms, for which others who number wait."""
PATIENCE_SECONDS = 1.0
"""For so long a reader numbers, or waits for others who do; then it reads what has a number."""
_PAUSE_SECONDS = 1.0  # between rounds of the thread: many commits are numbered together
_LOOK_SECONDS = 0.01  # again, while another one numbers

_WAITING = "SELECT EXISTS (SELECT FROM events WHERE num IS NULL)"
_LOCK = "SELECT pg_try_advisory_xact_lock(?)"
_NUMBER = f"""
    UPDATE events e SET num = n.num FROM (
        SELECT user_id, seq, row_number() OVER (ORDER BY seq) + ({LAST}) AS num FROM (
            SELECT user_id, seq FROM events WHERE num IS NULL ORDER BY seq LIMIT ?
        ) b
    ) n WHERE e.user_id = n.user_id AND e.seq = n.seq
"""


def number_events(connections: Connections, seconds: float | None) -> None:
    """Number what was committed before this call; give up after so many seconds, if any."""
    end = None if seconds is None else time.monotonic() + seconds
    while (done := _number_some(connections)) is None or done == AT_ONCE:
        if end is not None and time.monotonic() >= end:
            return
        if done is None:
            time.sleep(_LOOK_SECONDS)


def _number_some(connections: Connections) -> int | None:
    """Number some events; return how many, or None if another one is at it."""
    with connections.snapshot() as db:
        if db.execute(_WAITING).fetchone() == (False,):
            return 0
    with connections.transaction() as db:
        key = lock_key("events", connections.schema)
        if db.execute(_LOCK, (key,)).fetchone() == (False,):
            return None
        return db.execute(_NUMBER, (AT_ONCE,)).rowcount


class Numbering:
    """A thread that numbers events after this process has committed some. Thread-safe."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._guard = threading.Lock()
        self._woken = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Have the thread number what there is; it begins with the first call."""
        self._woken.set()
        if self._thread is None:
            with self._guard:
                if self._thread is None and not self._closed.is_set():
                    self._thread = threading.Thread(target=self._run, name="events", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Number no more."""
        self._closed.set()
        self._woken.set()

    def _run(self) -> None:
        while not self._closed.wait(_PAUSE_SECONDS):
            self._woken.wait()
            self._woken.clear()
            if not self._closed.is_set():
                with suppress(StoreError):  # the next commit wakes again, and readers number too
                    number_events(self._connections, None)
