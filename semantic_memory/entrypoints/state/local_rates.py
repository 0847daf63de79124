"""Rates of requests, as token buckets in RAM."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import NamedTuple, Self


class Limit(NamedTuple):
    """Requests of one caller: `rate` a second, `size` at once."""

    rate: float
    size: float

    @classmethod
    def per_minute(cls, requests: int) -> Self:
        """Return the limit by which a tenth of a minute's requests may come at once."""
        rate = requests / 60
        return cls(rate, max(1.0, 6 * rate))


@dataclass(slots=True)
class Bucket:
    """A token bucket: `rate` a second, `size` at once."""

    rate: float
    size: float
    tokens: float = field(init=False)
    at: float = field(init=False, default=-math.inf)

    def __post_init__(self) -> None:
        self.tokens = self.size

    def take(self, now: float) -> float:
        """Take one; returns 0, or the seconds until there is one."""
        if now > self.at > -math.inf:
            self.tokens = min(self.size, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens < 1:
            return (1 - self.tokens) / self.rate
        self.tokens -= 1
        return 0.0


class LocalRates:
    """`Rates` of one process, for the thread of its event loop."""

    def __init__(self, requests_per_minute: int) -> None:
        self._limit = Limit.per_minute(requests_per_minute)
        self._buckets: dict[str, Bucket] = {}

    def take(self, name: str) -> float:
        """Count a request of a caller; return 0, or the seconds until it may be sent."""
        return self._buckets.setdefault(name, Bucket(*self._limit)).take(time.monotonic())

    def draw(self, name: str) -> float:
        """Count a request of a caller, as `take`."""
        return self.take(name)
