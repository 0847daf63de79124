"""The connections to the database file: one writer, and readers lent out to threads."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from semantic_memory.concurrency import Contended, FairLock
from semantic_memory.disk import BUSY_SECONDS, SystemDisk
from semantic_memory.domain.errors import StoreClosedError, StoreUnavailableError
from semantic_memory.domain.events import Event
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.ledger.sqlite.database import Database
from semantic_memory.ledger.sqlite.dialect import SQLITE
from semantic_memory.ledger.sqlite.schema import MIGRATIONS, add_functions, check_schema, migrate
from semantic_memory.ledger.watermark import WATERMARK, Watermark

_LOG_BYTES = 4 << 20
"""To which the write-ahead log is cut once it is folded in: SQLite folds 1,000 pages at a time."""


def migrate_file(path: Path, keys: Sequence[bytes] = ()) -> tuple[int, int]:
    """Bring a ledger that no process has open to the newest schema; return it before and after.

    Raises StoreError, and SchemaTooNewError for a ledger of a newer version of this package.
    """
    database = Database(path, SystemDisk(), keys)
    with database.translated(), closing(database.connect()) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        return migrate(connection), len(MIGRATIONS)


def _matches(expression: str, text: str) -> bool:
    """Carry out the operator REGEXP, of which SQLite has the syntax only."""
    return re.search(expression, text) is not None  # re keeps the last patterns compiled


class Connections:
    """One writing connection, under a lock, and reading ones lent out as needed. Thread-safe."""

    dialect = SQLITE

    def __init__(
        self,
        path: Path,
        observe: Callable[[Event], None],
        disk: Disk,
        keys: Sequence[bytes] = (),
        reading: str = "",
    ) -> None:
        """Open the file at `path`, creating it if necessary, encrypted if there are `keys`.

        `reading` says why it is opened to read only; nothing is changed then.
        """
        self._name = path.name
        self.reading = reading
        """Why nothing may be written; empty where it may."""
        self._database = Database(path, disk, keys, reading=bool(reading))
        self._lock = Contended("ledger", FairLock(), observe)
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        with self._database.translated():
            self._writer: sqlite3.Connection | None = None
            with ExitStack() as opened:
                opened.callback(self._close_all)
                if reading:
                    with self.snapshot() as connection:
                        check_schema(connection)
                else:
                    self._database.create()
                    migrate(self._writing())
                self.mark = Watermark(path.with_name(WATERMARK), disk, reading=bool(reading))
                """The number of committed changes, noted beside the database."""
                opened.pop_all()

    def _connect(self, *pragmas: str) -> sqlite3.Connection:
        # A connection wanders between threads, one at a time.
        connection = self._database.connect()
        connection.create_function("regexp", 2, _matches, deterministic=True)
        try:
            for pragma in ("temp_store = MEMORY", *pragmas):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _writing(self) -> sqlite3.Connection:
        if self.reading:
            raise StoreUnavailableError(self.reading)
        if self._writer is None:
            self._writer = self._connect(
                "journal_mode = WAL",
                "synchronous = FULL",
                "foreign_keys = ON",
                "secure_delete = ON",  # what is erased is overwritten
                f"journal_size_limit = {_LOG_BYTES}",
                # A commit whose fsync failed still stands in the log and counts as committed when
                # that is read again, but may be on no disk: a checkpoint writes and syncs it.
                "wal_checkpoint(PASSIVE)",
            )
            add_functions(self._writer)
        return self._writer

    def _borrow(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise StoreClosedError("this memory has been closed")
            if self._idle:
                return self._idle.pop()
        return self._connect("query_only = ON")

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a reading connection that sees one state of the database throughout."""
        with self._database.translated():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    if connection.in_transaction:  # an error of the disk may have ended it
                        connection.execute("COMMIT")
            except self._database.error:
                connection.close()  # FTS5 may continue with what it has half read
                raise
            except BaseException:
                self._give_back(connection)
                raise
            else:
                self._give_back(connection)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other writers out. Reentrant."""
        with self._lock:
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Lend the writing connection; commit at the end, roll back if something is raised."""
        with self._lock, self._database.translated():
            if self._closed:
                raise StoreClosedError("this memory has been closed")
            writer = self._writing()
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                writer.execute("COMMIT")
            except self._database.error:
                # After a commit that the disk refused, FTS5 continues with what it had in RAM, and
                # the next commit would damage its index.
                self._writer = None
                writer.close()
                raise
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database and empty it.

        Raises StoreUnavailableError if a reader kept a snapshot for too long.
        """
        with self._lock, self._database.translated():
            (busy, *_) = self._writing().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreUnavailableError(
                f"a reader has held a snapshot of {self._name} for {BUSY_SECONDS:.0f} s, with"
                " texts that are to be erased: erase them again once it has finished"
            )

    def rebuild(self) -> None:
        """Write the database again: pages keep bytes of cells that once moved to another page."""
        with self._lock, self._database.translated():
            writer = self._writing()
            writer.execute("PRAGMA temp_store = FILE")  # a copy of all of it, for a moment
            try:
                writer.execute("VACUUM")
            finally:
                writer.execute("PRAGMA temp_store = MEMORY")

    def close(self) -> None:
        """Close all of them; the last one folds the write-ahead log into the database."""
        with self._lock:
            self._close_all()
            self.mark.close()

    def _close_all(self) -> None:
        with self._guard:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()
        if self._writer is not None:
            self._writer.close()
