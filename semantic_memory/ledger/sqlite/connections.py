"""The connections to the database file: one writer, and readers lent out to threads."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from semantic_memory.concurrency import Contended
from semantic_memory.domain.errors import (
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import Event
from semantic_memory.ledger.sqlite.schema import MIGRATIONS, migrate

_UNAVAILABLE = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_BUSY: "another program has it locked: end that program, or its transaction",
    sqlite3.SQLITE_READONLY: "it is read-only: check the permissions of its directory",
    sqlite3.SQLITE_PERM: "access is denied: check the permissions of its directory",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened: check the permissions of the directory",
    sqlite3.SQLITE_IOERR: "reading or writing failed: check the disk",
}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into StoreErrors that say what to do."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        if "closed database" in str(error):
            raise StoreClosedError("this memory has been closed") from error
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
        if code in _UNAVAILABLE:
            raise StoreUnavailableError(f"ledger {path}: {_UNAVAILABLE[code]} ({error})") from error
        if code in _CORRUPT:
            raise StoreCorruptError(
                f"ledger {path} is damaged ({error}): restore it from a backup, or move it away and"
                " ingest the session logs again"
            ) from error
        raise StoreError(f"ledger {path}: {error}") from error


def migrate_file(path: Path) -> tuple[int, int]:
    """Bring a ledger that no process has open to the newest schema; return it before and after.

    Raises StoreError, and SchemaTooNewError for a ledger of a newer version of this package.
    """
    with translated(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        return migrate(connection), len(MIGRATIONS)


class Connections:
    """One writing connection, under a lock, and reading ones lent out as needed. Thread-safe."""

    def __init__(self, path: Path, observe: Callable[[Event], None]) -> None:
        self._path = path
        self._lock = Contended("ledger", threading.RLock(), observe)
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        with translated(path):
            if not path.exists():
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
                except OSError as error:
                    raise StoreUnavailableError(f"can't create {path}: {error.strerror}") from error
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA synchronous = FULL")
            self._writer.execute("PRAGMA foreign_keys = ON")
            self._writer.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
            migrate(self._writer)

    def _connect(self) -> sqlite3.Connection:
        # Autocommit, as transactions are written out. A connection wanders between threads, one at
        # a time.
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=10.0
        )
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    def _borrow(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise StoreClosedError("this memory has been closed")
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a reading connection that sees one state of the database throughout."""
        with translated(self._path):
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    connection.execute("COMMIT")
            finally:
                self._give_back(connection)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other writers out. Reentrant."""
        with self._lock:
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Lend the writing connection; commit at the end, roll back if something is raised."""
        with self._lock, translated(self._path):
            if self._closed:
                raise StoreClosedError("this memory has been closed")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database and empty it."""
        with self._lock, translated(self._path):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all of them; the last one folds the write-ahead log into the database."""
        with self._lock:
            with self._guard:
                self._closed = True
                for connection in self._idle:
                    connection.close()
                self._idle.clear()
            self._writer.close()
