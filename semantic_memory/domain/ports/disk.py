"""The interface to the system calls beneath the files of a store."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import BinaryIO, Protocol


class Disk(Protocol):
    """System calls beneath the files of a store, in one place, for tests to make them fail.

    Every method raises OSError, `connect` sqlite3.Error.
    """

    def open(self, path: Path, flags: int) -> int:
        """Open a file, private to its owner if it is created; return its descriptor."""
        ...

    def write(self, file: int, data: bytes | memoryview) -> int:
        """Write at the present end or position; return how many bytes were written."""
        ...

    def overwrite(self, file: int, data: bytes) -> int:
        """Write at the beginning; return how many bytes were written."""
        ...

    def truncate(self, file: int, size: int) -> None:
        """Cut a file to a size in bytes."""
        ...

    def sync(self, file: int) -> None:
        """Wait until the content of a file is on the disk."""
        ...

    def close(self, file: int) -> None:
        """Close a descriptor."""
        ...

    def reader(self, path: Path) -> BinaryIO:
        """Open a file for reading."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Rename a file, in place of another."""
        ...

    def remove(self, path: Path) -> None:
        """Delete a file."""
        ...

    def make_directory(self, path: Path) -> None:
        """Create a directory, private to its owner."""
        ...

    def remove_directory(self, path: Path) -> None:
        """Delete an empty directory."""
        ...

    def sync_directory(self, path: Path) -> None:
        """Wait until the names in a directory are on the disk."""
        ...

    def connect(self, path: Path) -> sqlite3.Connection:
        """Open a database whose transactions are written out; any thread may use the connection."""
        ...
