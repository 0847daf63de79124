"""Copy a database into another form, encrypted or plain, and put the copy in its place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from semantic_memory.domain.errors import StoreCorruptError, StoreError, StoreUnavailableError
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.ledger.remedies import HOW_TO_MEND
from semantic_memory.ledger.sqlite.database import (
    find_key,
    is_plain,
    sqlcipher,
    translated,
    unlocked,
)

_BESIDE = ("-wal", "-shm", "-journal")


def key_of(path: Path, keys: Sequence[bytes]) -> bytes | None:
    """Return the key that a database is under; None for plain text. Raises ConfigurationError."""
    return None if is_plain(path) else find_key(path, keys)


def convert_file(path: Path, keys: Sequence[bytes], disk: Disk, *, encrypt: bool) -> bool:
    """Bring a database under the first of `keys`, or into plain text; return False if it was so.

    No process may have it open. It may be plain, or under any of the keys. Until the copy is whole
    and on the disk, the file stays as it is. Raises ConfigurationError if no key opens it.
    """
    draft = path.with_name(f"{path.name}.new")
    _remove(draft)  # of a conversion that was cut off
    if not path.exists() or not path.stat().st_size:
        return False
    source, target = key_of(path, keys), keys[0] if encrypt else None
    if source == target:
        return False
    try:
        disk.close(disk.open(draft, os.O_CREAT | os.O_RDWR))
        with translated(path, sqlcipher()), closing(unlocked(path, source)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _copy(connection, draft, target)
        _replace(path, draft, disk)
    except StoreError:
        _remove(draft)
        raise
    except OSError as error:
        _remove(draft)
        raise StoreUnavailableError(f"can't replace {path}: {error.strerror or error}") from error
    return True


def _replace(path: Path, draft: Path, disk: Disk) -> None:
    if any((left := path.with_name(path.name + one)).exists() for one in _BESIDE):
        raise StoreUnavailableError(f"{left} is in use: close what has it open, and run this again")
    descriptor = disk.open(draft, os.O_RDWR)
    try:
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)
    disk.replace(draft, path)
    disk.sync_directory(path.parent)


def _remove(draft: Path) -> None:
    for suffix in ("", *_BESIDE):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _copy(connection: Connection, draft: Path, key: bytes | None) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    secret = "" if key is None else f"x'{key.hex()}'"
    connection.execute("ATTACH DATABASE ? AS draft KEY ?", (str(draft), secret))
    connection.execute("PRAGMA draft.synchronous = FULL")
    connection.execute("SELECT sqlcipher_export('draft')").fetchone()
    connection.execute(f"PRAGMA draft.user_version = {version}")
    (found,) = connection.execute("PRAGMA draft.quick_check(1)").fetchone()
    if found != "ok":
        raise StoreCorruptError(f"the copy {draft} is damaged ({found}): {HOW_TO_MEND}")
    connection.execute("DETACH DATABASE draft")
