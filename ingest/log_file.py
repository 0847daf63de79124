"""Files of the session log: durable appends, atomic rewrites, and reads that name what failed.

Every function raises StoreUnavailableError, with the path and what to do, if the disk fails.
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

_TRIES = 3
_PAUSE_SECONDS = 0.02  # before the second attempt; twice that before the third
_LONGEST_PAUSE_SECONDS = 0.5


def complete_bytes(path: Path) -> int:
    """Return the size of the file up to its last line end."""
    with opened(path) as file:
        return line_start(file, file.seek(0, os.SEEK_END) + 1)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; raise StoreUnavailableError on any failure to read it."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise StoreUnavailableError(
            f"can't read the session log {path}: {error.strerror or error}; check its permissions"
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


class Appended(NamedTuple):
    """Outcome of an append."""

    size: int
    """Size of the file, in bytes."""
    attempts: int


def append(path: Path, data: bytes, size: int, seconds: float) -> Appended:
    """Write after the first `size` bytes and wait for the disk.

    Tries three times, and then again for up to `seconds`, at intervals that double. On failure the
    file is cut back to `size` bytes.
    """
    start, pause = time.monotonic(), _PAUSE_SECONDS
    for attempt in itertools.count(1):
        try:
            return Appended(_appended(path, data, size), attempt)
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


def _appended(path: Path, data: bytes, size: int) -> int:
    if size == 0:
        make_directory(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if size == 0:
            sync_directory(path.parent)  # so that the new file's name survives a crash
        try:
            if os.fstat(descriptor).st_size > size:
                os.ftruncate(descriptor, size)  # left by a failed attempt
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        except OSError:
            # fsync may not retry pages that it failed to write, so the next attempt writes again
            os.ftruncate(descriptor, size)
            raise
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes) -> None:
    """Replace a file's content by `data`, atomically and durably."""
    draft = path.with_suffix(".new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't rewrite the session log {path}: {error.strerror or error}; it is unchanged"
        ) from error


def settle(path: Path, size: int) -> None:
    """Cut a file to its complete lines, and flush them to disk."""
    try:
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't open the session log {path}: {error.strerror or error}; check its permissions"
        ) from error


def make_directory(directory: Path) -> None:
    """Create a private directory, durably."""
    if directory.exists():
        return
    try:
        directory.mkdir(mode=0o700)
        sync_directory(directory.parent)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreUnavailableError(
            f"can't create {directory}: {error.strerror or error}; check permissions and free space"
        ) from error


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
