"""Break the circuit to an endpoint that keeps failing, for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """Opens for `open_seconds` after `failures` failures in a row; a success closes it.

    Thread-safe. Once that time is over calls are let through again; the first to fail opens it
    again.
    """

    def __init__(
        self,
        failures: int = 3,
        open_seconds: float = 60.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failures = failures
        self.open_seconds = open_seconds
        self._now = now
        self._failed = 0
        self._open_until = float("-inf")
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Return the seconds until calls are let through; 0 if they are now."""
        with self._lock:
            return max(0.0, self._open_until - self._now())

    def succeeded(self) -> None:
        """Record a success."""
        with self._lock:
            self._failed = 0

    def failed(self) -> bool:
        """Record a failure; return whether it opened the breaker."""
        with self._lock:
            self._failed += 1
            if self._failed < self.failures:
                return False
            self._open_until = self._now() + self.open_seconds
            return True
