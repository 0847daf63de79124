"""A database file, in plain text by SQLite or encrypted by SQLCipher."""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal, cast

from semantic_memory.disk import BUSY_SECONDS, READING_PRAGMA, reading_uri
from semantic_memory.domain.errors import (
    ConfigurationError,
    MissingDependencyError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.ledger.remedies import HOW_TO_MEND

_UNAVAILABLE = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_BUSY: "another program has it locked: end that program, or its transaction",
    sqlite3.SQLITE_READONLY: "it is read-only: check the permissions of its directory",
    sqlite3.SQLITE_PERM: "access is denied: check the permissions of its directory",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened: check the permissions of the directory",
    sqlite3.SQLITE_IOERR: "reading or writing failed: check the disk",
}
# Constraints hold by construction: where one fails, tables and indexes contradict each other.
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT}
_UNDECODABLE = "Could not decode to UTF-8"
_PAGE = 4_096
_RANDOM = 240  # byte values in a random page; fewer in any other, 256 but for one in 10^5


class Database:
    """A database file, and the library that opens it. Thread-safe.

    Raises ConfigurationError for an encrypted file without its key or a plain one with a key,
    MissingDependencyError without SQLCipher.
    """

    def __init__(
        self, path: Path, disk: Disk, keys: Sequence[bytes] = (), *, reading: bool = False
    ) -> None:
        """Name the file; where it is opened for `reading`, nothing on the disk is changed."""
        self.path = path
        self._disk = disk
        self._reading = reading
        self._engine = sqlcipher() if keys else sqlite3
        self._key = find_key(path, keys, reading=reading) if keys else None
        if not keys:
            refuse_encrypted(path)

    @property
    def error(self) -> type[Exception]:
        """The class of the library's errors that concern the file."""
        return cast(type[Exception], self._engine.DatabaseError)

    def create(self) -> None:
        """Create the file, empty and private, if there is none."""
        if not self.path.exists():
            try:
                self._disk.close(self._disk.open(self.path, os.O_CREAT | os.O_RDWR))
            except OSError as error:
                raise StoreUnavailableError(
                    f"can't create {self.path}: {error.strerror}"
                ) from error

    def connect(self) -> sqlite3.Connection:
        """Open a connection whose transactions are written out; any thread may use it."""
        if self._key is None:
            return self._disk.connect(self.path)
        return unlocked(self.path, self._key, reading=self._reading)

    def translated(self) -> AbstractContextManager[None]:
        """Translate the library's errors into StoreErrors that say what to do."""
        return translated(self.path, self._engine)


@contextmanager
def translated(path: Path, engine: ModuleType) -> Iterator[None]:
    """Translate the errors of SQLite or SQLCipher into StoreErrors that say what to do."""
    try:
        yield
    except engine.ProgrammingError as error:
        if "closed database" in str(error):
            raise StoreClosedError("this memory has been closed") from error
        raise
    except engine.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
        if code in _UNAVAILABLE:
            raise StoreUnavailableError(f"ledger {path}: {_UNAVAILABLE[code]} ({error})") from error
        if code in _CORRUPT:
            raise StoreCorruptError(f"ledger {path} is damaged ({error}): {HOW_TO_MEND}") from error
        if _UNDECODABLE in str(error):  # and it continues with the text
            raise StoreCorruptError(
                f"ledger {path} is damaged ({_UNDECODABLE}): {HOW_TO_MEND}"
            ) from None
        raise StoreError(f"ledger {path}: {error}") from error


def sqlcipher() -> ModuleType:
    """Return the module of SQLCipher, which has the names of `sqlite3`."""
    try:
        return importlib.import_module("sqlcipher3.dbapi2")
    except ImportError:
        raise MissingDependencyError(
            "encrypting a store needs the sqlcipher3 package:"
            " pip install 'semantic-memory[encryption]'"
        ) from None


def unlocked(path: Path, key: bytes | None, *, reading: bool = False) -> sqlite3.Connection:
    """Open a file by SQLCipher, with a key or in plain text; for `reading`, without its locks."""
    connection = sqlcipher().connect(
        reading_uri(path) if reading else path,
        uri=reading,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_SECONDS,
    )
    connection.execute("PRAGMA cipher_log_level = NONE")  # else a wrong key shows on stderr
    if key is not None:
        connection.execute(f"PRAGMA key = \"x'{key.hex()}'\"")
    if reading:
        connection.execute(READING_PRAGMA)
    return cast(sqlite3.Connection, connection)


def is_plain(path: Path) -> bool:
    """Return True for a database in plain text, or too damaged to tell."""
    return _looks(path) == "plain"


def find_key(path: Path, keys: Sequence[bytes], *, reading: bool = False) -> bytes:
    """Return the key that opens a database; for a new one, the first. Raises ConfigurationError."""
    match _looks(path):
        case "new":
            return keys[0]
        case "plain":
            raise ConfigurationError(
                f"{path} is in plain text, but the settings have a key: run `semantic-memory"
                " admin encrypt` to encrypt the store, or leave encryption.key_file out"
            )
        case "encrypted":
            for key in keys:
                if _opens(path, key, reading=reading):
                    return key
            raise ConfigurationError(
                f"{path} is encrypted with another key: set encryption.key_file to the file of the"
                " key it was written with; to rotate keys, put the new one before the old. If the"
                f" key is right, its first page is damaged: {HOW_TO_MEND}"
            )


def refuse_encrypted(path: Path) -> None:
    """Raise ConfigurationError for a database that is encrypted."""
    if _looks(path) == "encrypted":
        raise ConfigurationError(
            f"{path} is encrypted: set encryption.key_file (SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE)"
            " to the file of the key it was written with"
        )


def _looks(path: Path) -> Literal["new", "plain", "encrypted"]:
    try:
        with path.open("rb") as file:
            page = file.read(_PAGE)
    except FileNotFoundError:
        return "new"
    except OSError as error:
        raise StoreUnavailableError(f"can't read {path}: {error.strerror or error}") from error
    if not page:
        return "new"
    # An encrypted page is random; one with a damaged header is far from it.
    return "encrypted" if len(set(page)) > _RANDOM else "plain"


def _opens(path: Path, key: bytes, *, reading: bool) -> bool:
    engine = sqlcipher()
    with translated(path, engine), closing(unlocked(path, key, reading=reading)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except engine.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                return False
            raise
    return True
