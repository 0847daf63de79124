"""The disks of this machine."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from pathlib import Path
from typing import BinaryIO

_NO_LOCKS = "win32-none" if sys.platform == "win32" else "unix-none"

BUSY_SECONDS = 10.0
"""Longest wait for a lock on a database."""


class SystemDisk:
    """The `Disk` on the system calls of this machine."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file, private to its owner if it is created; return its descriptor."""
        return os.open(path, flags, 0o600)

    def write(self, file: int, data: bytes | memoryview) -> int:
        """Write at the present end or position; return how many bytes were written."""
        return os.write(file, data)

    def overwrite(self, file: int, data: bytes) -> int:
        """Write at the beginning; return how many bytes were written."""
        return os.pwrite(file, data, 0)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file to a size in bytes."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Wait until the content of a file is on the disk."""
        os.fsync(file)

    def close(self, file: int) -> None:
        """Close a descriptor."""
        os.close(file)

    def reader(self, path: Path) -> BinaryIO:
        """Open a file for reading."""
        return path.open("rb")

    def replace(self, source: Path, target: Path) -> None:
        """Rename a file, in place of another."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Delete a file."""
        path.unlink()

    def make_directory(self, path: Path) -> None:
        """Create a directory, private to its owner."""
        path.mkdir(mode=0o700)

    def remove_directory(self, path: Path) -> None:
        """Delete an empty directory."""
        path.rmdir()

    def sync_directory(self, path: Path) -> None:
        """Wait until the names in a directory are on the disk."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def connect(self, path: Path) -> sqlite3.Connection:
        """Open a database whose transactions are written out; any thread may use the connection."""
        return sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
        )


class ReadingDisk(SystemDisk):
    """The `Disk` of a store that is opened to read: it opens no file to write."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file to read. Raises OSError for another purpose."""
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, "the store is open to read only")
        return super().open(path, flags)

    def connect(self, path: Path) -> sqlite3.Connection:
        """Open a database to read, and none of its locks."""
        connection = sqlite3.connect(
            reading_uri(path), uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute(READING_PRAGMA)
        return connection


READING_PRAGMA = "PRAGMA locking_mode = EXCLUSIVE"
"""Keeps the index of a write-ahead log in RAM: no file beside the database is needed for it."""


def reading_uri(path: Path) -> str:
    """Return the address of a database, for SQLite, that nobody writes and nothing may change."""
    log = path.with_name(f"{path.name}-wal")
    rest = log.exists() and log.stat().st_size
    return f"{path.absolute().as_uri()}?{f'mode=ro&vfs={_NO_LOCKS}' if rest else 'immutable=1'}"
