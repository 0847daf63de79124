"""The database of a store: its size, its content, and the check of it."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.reports import Finding
from semantic_memory.ledger.postgres.connections import Connections, Session

_TABLES = """
    SELECT relname::text FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY 1
"""
_SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_CHUNK = 1 << 20


class Database:
    """The schema of an open store. Thread-safe."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def size(self) -> int:
        """Return the bytes that tables and their indexes take."""
        with self._connections.snapshot() as db:
            return int(db.execute(_SIZE).fetchone()[0])  # type: ignore[index]

    def contents(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield the name of each table, and the bytes of its rows in chunks.

        Rows that were deleted since the server's last vacuum are left out.
        """
        with self._connections.snapshot() as db:
            for (name,) in db.execute(_TABLES).fetchall():
                yield name, _chunks(db, name)

    def check(self) -> Iterator[Finding]:
        """Yield what the server is, and that data at rest are its affair."""
        with self._connections.snapshot() as db:
            (version,) = db.execute("SELECT current_setting('server_version')").fetchone() or ("",)
        where = f"PostgreSQL {version} at {self._connections.name}"
        detail = f"{where}, schema {self._connections.schema}, for any number of processes"
        yield Finding(check="database", ok=True, detail=detail)
        yield Finding(check="encryption", ok=True, detail="at rest, that of the server's disks")


def _chunks(db: Session, table: str) -> Iterator[bytes]:
    """Yield the rows of a table in the binary format, many at a time."""
    rows = bytearray()
    for row in db.copied(table):
        rows += row
        if len(rows) >= _CHUNK:
            yield bytes(rows)
            rows.clear()
    yield bytes(rows)
