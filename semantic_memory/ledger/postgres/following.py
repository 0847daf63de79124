"""Notice what other processes commit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from semantic_memory.domain.errors import StoreError

_SECONDS = 1.0


class Follower:
    """Rings once another event than before is the latest one, of whichever process. Thread-safe.

    It asks every second: a pooler of transactions passes no notifications on.
    """

    def __init__(self, latest: Callable[[], int], ring: Callable[[], None]) -> None:
        self._latest = latest
        self._ring = ring
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin, unless it has begun."""
        with self._guard:
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="feed", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Ask no more."""
        self._closed.set()

    def _follow(self) -> None:
        seen = -1  # what came before the first look may have come after the listener had read
        while not self._closed.is_set():
            with suppress(StoreError):  # it is asked again
                latest = self._latest()
                if latest != seen:
                    seen = latest
                    self._ring()
            self._closed.wait(_SECONDS)
