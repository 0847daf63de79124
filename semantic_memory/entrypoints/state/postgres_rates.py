"""Rates of requests, as token buckets in a table, of which workers draw shares.

A statement for each request would be a second load on the database beside the memory's own. A
worker draws as many tokens as it needs for a tenth of a second, by what it needed before, and gives
back what was left of its latest share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from semantic_memory.concurrency import KeyedLocks
from semantic_memory.entrypoints.state.local_rates import Limit
from semantic_memory.ledger.postgres.connections import Connections

SHARE_SECONDS = 0.1
"""For so long a share may be used."""
RETURN_SECONDS = 1.0
"""For so long the rest of a share may be given back. In any `t` seconds, all workers together let
pass at most `size + rate * (t + RETURN_SECONDS)` requests of a caller."""
_MOST = 0.1  # of a full bucket in one share

_DRAW = """
    INSERT INTO rates AS r (name, tokens, at, granted)
    SELECT ?::text, b.size - b.wanted, extract(epoch FROM clock_timestamp()), b.wanted
    FROM (SELECT ?::float8 AS size, ?::bigint AS wanted) b
    ON CONFLICT (name) DO UPDATE SET (tokens, at, granted) = (
        SELECT b.tokens - least(b.wanted, floor(b.tokens)), b.at,
            least(b.wanted, floor(b.tokens))
        FROM (
            SELECT greatest(r.at, excluded.at) AS at, excluded.granted AS wanted,
                least(?::float8, r.tokens + ?::bigint
                    + greatest(0, excluded.at - r.at) * ?::float8) AS tokens
        ) b
    )
    RETURNING tokens, granted
"""


@dataclass(slots=True)
class Share:
    """Tokens of a caller that one worker may use until `ends`, and those used of them."""

    wanted: int
    granted: int
    drawn: float
    ends: float
    used: int = 0

    @property
    def left(self) -> int:
        """Number of tokens not used."""
        return self.granted - self.used

    def take(self, now: float) -> float | None:
        """Use a token; return 0, the seconds until there may be one, or None to draw again."""
        if now >= self.ends:
            return None
        if self.left:
            self.used += 1
            return 0.0
        # Of an empty bucket nobody draws for each token that drips into it.
        return self.ends - now if self.granted < self.wanted else None

    def next(self, now: float, most: int) -> int:
        """Return the number of tokens to draw next: twice as many if these didn't last."""
        used_up = self.left == 0 and now < self.ends
        return min(most, max(1, 2 * self.used if used_up else self.used))

    def returned(self, now: float) -> int:
        """Return the number of tokens to give back."""
        return self.left if now - self.drawn < RETURN_SECONDS else 0


class PostgresRates:
    """`Rates` of any number of workers, whose buckets fill by the clock of the database."""

    def __init__(
        self,
        connections: Connections,
        requests_per_minute: int,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connections = connections
        self._limit = Limit.per_minute(requests_per_minute)
        self._most = max(1, int(self._limit.size * _MOST))
        self._timer = timer
        self._lock = threading.Lock()
        self._drawing: KeyedLocks[str] = KeyedLocks("rates")
        self._shares: dict[str, Share] = {}

    def take(self, name: str) -> float | None:
        """Count a request of a caller by the share at hand; None if one has to be drawn."""
        with self._lock:
            share = self._shares.get(name)
            return None if share is None else share.take(self._timer())

    def draw(self, name: str) -> float:
        """Count a request of a caller, and draw a share for it if necessary."""
        with self._drawing.hold(name):
            wait = self.take(name)
            while wait is None:  # a share may be used up by others, or over, as soon as it is drawn
                self._draw(name)
                wait = self.take(name)
            return wait

    def _draw(self, name: str) -> None:
        now = self._timer()
        with self._lock:
            old = self._shares.pop(name, None)
        wanted = 1 if old is None else old.next(now, self._most)
        returned = 0 if old is None else old.returned(now)
        rate, size = self._limit
        with self._connections.passing() as db:
            row = db.execute(_DRAW, (name, size, wanted, size, returned, rate)).fetchone()
        tokens, granted = row or (0.0, 0)
        wait = 0.0 if granted else (1 - tokens) / rate
        ends = self._timer() + max(SHARE_SECONDS, wait)
        with self._lock:
            self._shares[name] = Share(wanted, granted, now, ends)
