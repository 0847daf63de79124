"""SQLite on a simulated disk, by apsw, behind the interface of `sqlite3`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, cast

import apsw

from tests.faults.simulated import SimulatedDisk
from tests.faults.weather import PowerCut

_BUSY_MILLISECONDS = 200
_DISK_FULL = 28
_KINDS: dict[type[apsw.Error], type[sqlite3.Error]] = {
    apsw.ConstraintError: sqlite3.IntegrityError,
    apsw.CorruptError: sqlite3.DatabaseError,
    apsw.NotADBError: sqlite3.DatabaseError,
    apsw.ConnectionClosedError: sqlite3.ProgrammingError,
}
_CODES = {
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "remove": apsw.SQLITE_IOERR_DELETE,
    "open": apsw.SQLITE_CANTOPEN,
}


class DatabaseDisk(SimulatedDisk):
    """A simulated disk that holds databases as well. Close it, so that SQLite lets go of it."""

    def mount(self) -> None:
        """Register it with SQLite."""
        self._vfs = _Vfs(self)

    def connect(self, path: Path) -> sqlite3.Connection:
        return cast(sqlite3.Connection, Connection(self, path, self._vfs.vfs_name))

    def within_sqlite(self, call: str) -> None:
        """Fail as SQLite expects it, if the weather says so."""
        try:
            number = self.faults.refuses(call)
        except PowerCut:
            raise apsw.exception_for(_CODES[call]) from None
        if number:
            raise apsw.exception_for(apsw.SQLITE_FULL if number == _DISK_FULL else _CODES[call])


class _Vfs(apsw.VFS):
    def __init__(self, disk: DatabaseDisk) -> None:
        self.disk = disk
        self.vfs_name = f"simulated-{id(disk)}"
        super().__init__(self.vfs_name, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        if name is None:  # a temporary file of SQLite's
            return apsw.VFSFile("", name, flags)
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else str(name))
        fresh = not path.exists()
        self.disk.within_sqlite("open")
        file = _File(self.disk, path, name, flags)
        if fresh and path.exists():
            self.disk.created(path)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.disk.within_sqlite("remove")
        super().xDelete(filename, syncdir)
        self.disk.removed(Path(filename))
        if syncdir:
            self.disk.named(Path(filename).parent)

    def excepthook(self, *error: object) -> bool:
        """Be silent about what SQLite passes over."""
        return True

    def xRandomness(self, numbytes: int) -> bytes:  # noqa: N802
        return self.disk.faults.rng.randbytes(numbytes)


class _File(apsw.VFSFile):
    def __init__(self, disk: DatabaseDisk, path: Path, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._path = path
        # Of the files that it creates, SQLite makes the names of journals durable, of no other.
        self._names = bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))

    def excepthook(self, *error: object) -> bool:
        """Be silent about what SQLite passes over."""
        return True

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.within_sqlite("read")
        return self._disk.faults.rotten(super().xRead(amount, offset))

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        written = bytes(data)
        dead = self._disk.faults.dead
        try:
            self._disk.within_sqlite("write")
        except apsw.Error:
            if self._disk.faults.dead and not dead:
                self._disk.wrote(self._path, offset, written)
            raise
        if len(written) > 1 and self._disk.faults.cuts_short():
            part = written[: self._disk.faults.rng.randint(1, len(written) - 1)]
            super().xWrite(part, offset)
            self._disk.wrote(self._path, offset, part)
            raise apsw.exception_for(apsw.SQLITE_IOERR_WRITE)
        super().xWrite(written, offset)
        self._disk.wrote(self._path, offset, written)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.within_sqlite("truncate")
        super().xTruncate(newsize)
        self._disk.wrote(self._path, newsize, None)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.within_sqlite("sync")  # the real disk needn't wait
        if not self._disk.synced(self._path):
            raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
        if self._names:
            self._disk.named(self._path.parent)


class Cursor:
    """A cursor as that of `sqlite3`."""

    def __init__(self, rows: Iterator[Any], connection: Connection, changes: int) -> None:
        self._rows = rows
        self._connection = connection
        self.rowcount = changes
        self.lastrowid = connection.inner.last_insert_rowid()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._connection.translated():
            try:
                return next(self._rows)
            except UnicodeDecodeError:
                raise sqlite3.OperationalError("Could not decode to UTF-8 column") from None

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchmany(self, size: int) -> list[Any]:
        return list(islice(self, size))

    def fetchall(self) -> list[Any]:
        return list(self)


class Connection:
    """A connection as that of `sqlite3`."""

    def __init__(self, disk: DatabaseDisk, path: Path, vfs: str) -> None:
        self._disk = disk
        with self.translated():
            self.inner = apsw.Connection(str(path), vfs=vfs)
            self.inner.set_busy_timeout(_BUSY_MILLISECONDS)

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            if self._disk.faults.dead:
                raise PowerCut from None
            closed = isinstance(error, apsw.ConnectionClosedError)
            text = "Cannot operate on a closed database." if closed else str(error)
            kind = _KINDS.get(type(error), sqlite3.OperationalError)
            translated = kind(text)
            translated.sqlite_errorcode = getattr(error, "extendedresult", 0)
            raise translated from error

    def execute(self, statement: str, values: Any = ()) -> Cursor:
        with self.translated():
            before = self.inner.total_changes()
            rows = self.inner.execute(statement, values or None)
            changed = self.inner.changes() if self.inner.total_changes() != before else 0
            return Cursor(iter(rows), self, changed)

    def executemany(self, statement: str, values: Iterable[Any]) -> None:
        with self.translated():
            self.inner.executemany(statement, values)

    def executescript(self, script: str) -> None:
        self.execute(script)

    def create_function(
        self, name: str, arguments: int, function: Callable[..., Any], *, deterministic: bool
    ) -> None:
        self.inner.create_scalar_function(name, function, arguments, deterministic=deterministic)

    @property
    def in_transaction(self) -> bool:
        return self.inner.in_transaction

    def close(self) -> None:
        # SQLite tells nobody that it couldn't fold the write-ahead log in; apsw would.
        with suppress(sqlite3.Error), self.translated():
            self.inner.close()
