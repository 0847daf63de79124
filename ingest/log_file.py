"""Files of the session log: durable appends, atomic rewrites, and reads that name what failed.

Every failure of the disk is a StoreUnavailableError, with the path and what to do.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.files import delete_files, draft_of, replace_file
from semantic_memory.domain.ports.disk import Disk

_TRIES = 3
_PAUSE_SECONDS = 0.02  # before the second attempt; twice that before the third
_LONGEST_PAUSE_SECONDS = 0.5


class Appended(NamedTuple):
    """Outcome of an append."""

    size: int
    """Size of the file, in bytes."""
    attempts: int


class LogFiles:
    """Files on a disk. Every method raises StoreUnavailableError, with the path and what to do."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def complete_bytes(self, path: Path) -> int:
        """Return the size of the file up to its last line end."""
        with self.opened(path) as file:
            return line_start(file, file.seek(0, os.SEEK_END) + 1)

    @contextmanager
    def opened(self, path: Path) -> Iterator[BinaryIO]:
        """Open a file for reading; raise StoreUnavailableError on any failure to read it."""
        try:
            with self._disk.reader(path) as file:
                yield file
        except OSError as error:
            raise StoreUnavailableError(
                f"can't read the session log {path}: {error.strerror or error}; check its"
                " permissions"
            ) from error

    def last_line(self, path: Path, end: int) -> bytes:
        """Return the line of a file that ends at byte `end`."""
        with self.opened(path) as file:
            start = line_start(file, end)
            file.seek(start)
            return file.read(end - start)

    def append(self, path: Path, data: bytes, size: int, seconds: float) -> Appended:
        """Write after the first `size` bytes and wait for the disk.

        Tries three times, and then again for up to `seconds`, at intervals that double. On failure
        the file is cut back to `size` bytes.
        """
        start, pause = time.monotonic(), _PAUSE_SECONDS
        for attempt in itertools.count(1):
            try:
                return Appended(self._appended(path, data, size), attempt)
            except OSError as error:
                if attempt >= _TRIES and time.monotonic() + pause > start + seconds:
                    raise StoreUnavailableError(
                        f"can't write the session log {path}: {error.strerror or error}, after"
                        f" {attempt} attempts; nothing of this call was kept: check free space and"
                        " permissions, then send it again"
                    ) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _appended(self, path: Path, data: bytes, size: int) -> int:
        disk = self._disk
        if size == 0:
            self.make_directory(path.parent)
        descriptor = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            if size == 0:
                disk.sync_directory(path.parent)  # so that the new file's name survives a crash
            try:
                if os.fstat(descriptor).st_size > size:
                    disk.truncate(descriptor, size)  # left by a failed attempt
                rest = memoryview(data)
                while rest:
                    rest = rest[disk.write(descriptor, rest) :]
                disk.sync(descriptor)
            except OSError:
                # fsync may not retry pages that it failed to write: the next attempt writes again
                disk.truncate(descriptor, size)
                raise
            return os.fstat(descriptor).st_size
        finally:
            disk.close(descriptor)

    def replace(self, path: Path, data: bytes) -> None:
        """Replace a file's content by `data`, atomically and durably."""
        try:
            replace_file(self._disk, path, data)
        except OSError as error:
            raise StoreUnavailableError(
                f"can't rewrite the session log {path}: {error.strerror or error}; it is unchanged"
            ) from error

    def settle(self, path: Path, size: int) -> None:
        """Cut a file to its complete lines, and flush them to disk."""
        try:
            descriptor = self._disk.open(path, os.O_WRONLY)
            try:
                self._disk.truncate(descriptor, size)
                self._disk.sync(descriptor)
            finally:
                self._disk.close(descriptor)
        except OSError as error:
            raise StoreUnavailableError(
                f"can't open the session log {path}: {error.strerror or error}; check its"
                " permissions"
            ) from error

    def remove(self, path: Path) -> None:
        """Delete a file, and what a rewriting left, durably. Does nothing if there is none."""
        try:
            delete_files(self._disk, path.parent, [path, draft_of(path)])
        except OSError as error:
            raise StoreUnavailableError(
                f"can't delete the session log {path}: {error.strerror or error}"
            ) from error

    def make_directory(self, directory: Path) -> None:
        """Create a private directory, durably."""
        if directory.exists():
            return
        try:
            self._disk.make_directory(directory)
            self._disk.sync_directory(directory.parent)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreUnavailableError(
                f"can't create {directory}: {error.strerror or error}; check permissions and free"
                " space"
            ) from error


def line_start(file: BinaryIO, end: int) -> int:
    """Return the start of the line that ends at byte `end`."""
    stop = end - 1
    while stop > 0:
        start = max(0, stop - 65_536)
        file.seek(start)
        found = file.read(stop - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        stop = start
    return 0
