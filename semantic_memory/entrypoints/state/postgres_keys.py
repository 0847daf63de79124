"""API keys in a table, which every worker has a copy of for a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from pydantic import ValidationError

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.refusals import explain
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.entrypoints.keys import ApiKey, KeyRing, Keys, unknown
from semantic_memory.ledger.postgres.connections import Connections, Session

COPY_SECONDS = 1.0
"""For so long a worker may admit a revoked key."""
_PAUSE_SECONDS = 0.1  # between two looks for unknown keys, however many are tried

# The row of the counter is locked until the commit: a higher number means all changes before it.
_COUNT = (
    "INSERT INTO meta VALUES ('api_keys', '1')"
    " ON CONFLICT (key) DO UPDATE SET value = (meta.value::bigint + 1)::text"
)


class _Copy(NamedTuple):
    ring: KeyRing
    changes: str
    at: float


class PostgresKeys(Keys):
    """`Keys` in a table. Changes take effect on every other worker within `COPY_SECONDS`.

    A copy spares each request a query. No copy is used longer: while the database can't be reached,
    nobody is let in.
    """

    def __init__(
        self,
        connections: Connections,
        encryption: Encryption | None = None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connections = connections
        self._encryption = encryption
        self._timer = timer
        self._lock = threading.Lock()
        self._copy: _Copy | None = None

    def add(self, key: ApiKey) -> None:
        """Store a key."""
        record = sealed(key.model_dump_json(exclude_defaults=True).encode(), self._encryption)
        with self._connections.transaction() as db:
            db.execute(_COUNT)
            db.execute("INSERT INTO api_keys (id, record) VALUES (?, ?)", (key.id, record))
        self._drop_copy()

    def revoke(self, key_id: str) -> None:
        """Revoke a key: here at once, elsewhere within `COPY_SECONDS`. Raises NotFoundError."""
        with self._connections.transaction() as db:
            db.execute(_COUNT)
            if db.execute("DELETE FROM api_keys WHERE id = ?", (key_id,)).rowcount == 0:
                raise unknown(key_id)
        self._drop_copy()

    def at_hand(self) -> KeyRing | None:
        """Return the copy; None if there is none that is young enough."""
        return self._copied(COPY_SECONDS)

    def read(self) -> KeyRing:
        """Return the keys as they are, or were a tenth of a second ago."""
        with self._lock:
            ring = self._copied(_PAUSE_SECONDS)
            if ring is None:
                at = self._timer()
                with self._connections.snapshot() as db:
                    self._copy = self._read(db, at)
                ring = self._copy.ring
            return ring

    def _copied(self, seconds: float) -> KeyRing | None:
        copy = self._copy
        return copy.ring if copy is not None and self._timer() - copy.at < seconds else None

    def _read(self, db: Session, at: float) -> _Copy:
        row = db.execute("SELECT value FROM meta WHERE key = 'api_keys'").fetchone()
        changes = str(row and row[0])
        if self._copy is not None and self._copy.changes == changes:
            return self._copy._replace(at=at)
        rows = db.execute("SELECT id, record FROM api_keys ORDER BY num").fetchall()
        return _Copy(KeyRing(self._opened(*row) for row in rows), changes, at)

    def _opened(self, key_id: str, record: bytes) -> ApiKey:
        try:
            return ApiKey.model_validate_json(unsealed(record, self._encryption))
        except ValueError as error:
            why = explain(error, ApiKey) if isinstance(error, ValidationError) else error
            raise ConfigurationError(
                f"the API key {key_id} can't be read ({why}): revoke it with"
                f" `semantic-memory keys revoke {key_id}`, and create another"
            ) from None

    def _drop_copy(self) -> None:
        with self._lock:
            if self._copy is not None:
                self._copy = self._copy._replace(at=float("-inf"))
