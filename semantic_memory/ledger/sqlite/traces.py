"""Traces in a file of their own: to lose it costs no memory, and to write it holds up no ledger."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.traces import TraceRow
from semantic_memory.ledger.sqlite.database import Database

_OVER = 0.05  # share of the traces that there may be too many for a while
_COLUMNS = "num, user_id, head, figures, words"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS traces (
    num INTEGER PRIMARY KEY, user_id TEXT, head TEXT, figures BLOB, words TEXT
);
CREATE INDEX IF NOT EXISTS traces_by_user ON traces (user_id);
"""


class SqliteTraces:
    """`Traces` in an SQLite file, which is opened at its first use."""

    def __init__(self, file: Path, disk: Disk) -> None:
        self._file = file
        self._disk = disk
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._added = 0

    def keep(self, rows: Sequence[TraceRow], *, since: int, most: int) -> None:
        """Add traces, and delete the oldest."""
        with self._using() as db, _transaction(db):
            db.executemany("INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?, ?)", rows)
            db.execute("DELETE FROM traces WHERE num < ?", (since,))
            self._added += len(rows)
            if self._added > most * _OVER:  # to find the oldest is to walk over all others
                self._added = 0
                db.execute(
                    "DELETE FROM traces WHERE num <="
                    " (SELECT num FROM traces ORDER BY num DESC LIMIT 1 OFFSET ?)",
                    (most,),
                )

    def latest(self, user_id: str, limit: int, *, since: int) -> list[TraceRow]:
        """Return a user's traces, the latest first."""
        query = (
            f"SELECT {_COLUMNS} FROM traces WHERE user_id = ? AND num >= ?"  # fixed
            " ORDER BY num DESC LIMIT ?"
        )
        with self._using() as db:
            return [TraceRow(*row) for row in db.execute(query, (user_id, since, limit))]

    def one(self, number: int) -> TraceRow | None:
        """Return a trace."""
        query = f"SELECT {_COLUMNS} FROM traces WHERE num = ?"  # fixed names
        with self._using() as db:
            row = db.execute(query, (number,)).fetchone()
        return None if row is None else TraceRow(*row)

    def forget_words(self, user_id: str) -> None:
        """Erase the words of a user's traces."""
        self._erasing("UPDATE traces SET words = '' WHERE user_id = ? AND words != ''", user_id)

    def erase(self, user_id: str) -> None:
        """Erase a user's traces."""
        self._erasing("DELETE FROM traces WHERE user_id = ?", user_id)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _erasing(self, statement: str, user_id: str) -> None:
        if not self._file.exists():  # nothing was ever kept
            return
        with self._using() as db:
            changed = db.execute(statement, (user_id,)).rowcount
        if changed:
            with self._using() as db:  # the log of the file holds what was there before
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._opened()
                yield self._connection
            except sqlite3.DatabaseError as error:
                raise StoreUnavailableError(f"can't keep traces: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        database = Database(self._file, self._disk)
        database.create()
        db = database.connect()
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")  # the last traces may be lost with the power
        db.execute("PRAGMA secure_delete = ON")  # forgotten texts are overwritten
        db.executescript(_SCHEMA)
        return db


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done in the context at once; take it back if it fails."""
    db.execute("BEGIN")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
