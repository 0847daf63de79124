"""Leases in a table, by the server's clock."""

from __future__ import annotations

import hashlib
import os
import socket
import time

from semantic_memory.ledger.postgres.connections import Connections

_TAKE = """
    INSERT INTO leases (name, owner, fence, until)
    VALUES (?, ?, nextval('lease_fences'), clock_timestamp() + ? * interval '1 second')
    ON CONFLICT (name) DO UPDATE
        SET owner = excluded.owner, fence = excluded.fence, until = excluded.until
        WHERE leases.until < clock_timestamp()
    RETURNING fence
"""
_RENEW = """
    UPDATE leases SET until = clock_timestamp() + ? * interval '1 second'
    WHERE name = ? AND fence = ?
"""
_RELEASE = "DELETE FROM leases WHERE name = ? AND fence = ?"


class PostgresLeases:
    """The `Leases` of all processes on one schema. Thread-safe."""

    shared = True

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._owner = f"{socket.gethostname()}:{os.getpid()}"

    def take(self, name: str, seconds: float) -> _Lease | None:
        """Take a name for so many seconds; return None while another lease of it lasts."""
        key = hashlib.blake2b(name.encode(), digest_size=16).digest()  # it may hold a user's id
        asked = time.monotonic()
        with self._connections.transaction() as db:
            row = db.execute(_TAKE, (key, self._owner, seconds)).fetchone()
        return None if row is None else _Lease(self._connections, key, row[0], seconds, asked)


class _Lease:
    """A row of the table, for as long as it has this fence."""

    def __init__(
        self, connections: Connections, key: bytes, fence: int, seconds: float, asked: float
    ) -> None:
        self._connections = connections
        self._key = key
        self._seconds = seconds
        self._until = asked + seconds
        """By this process's clock, which begins to count before the server's does."""
        self.fence = fence

    @property
    def held(self) -> bool:
        """False once it was released, was lost, or may have been lost."""
        return time.monotonic() < self._until

    def renew(self) -> bool:
        """Begin its time again; return False if it was released, or another has the name."""
        asked = time.monotonic()
        with self._connections.transaction() as db:
            stands = db.execute(_RENEW, (self._seconds, self._key, self.fence)).rowcount == 1
        self._until = asked + self._seconds if stands else asked
        return stands

    def release(self) -> None:
        """Let others have the name."""
        self._until = time.monotonic()
        with self._connections.transaction() as db:
            db.execute(_RELEASE, (self._key, self.fence))
