"""The number of changes in a ledger, noted in a file beside it.

A database that loses the end of its write-ahead log, or is replaced by an older copy, opens without
a complaint: nothing in it says that there was more. The mark does. It is written after each commit
and never waits for the disk, so that it may be a little low after a loss of power, but never high.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.ports.disk import Disk

WATERMARK = "watermark"
"""Name of the file."""

_DIGITS = 20


class Watermark:
    """The mark of a ledger, one line of fixed length. Not thread-safe: one writer holds it."""

    def __init__(self, path: Path, disk: Disk, *, reading: bool = False) -> None:
        """Open the mark, creating it if necessary, or to read. Raises StoreUnavailableError."""
        self._least = 0
        self._path = path
        self._disk = disk
        self._file = -1
        if reading:
            return
        try:
            self._file = disk.open(path, os.O_CREAT | os.O_RDWR)
        except OSError as error:
            raise StoreUnavailableError(f"can't open {path}: {error.strerror or error}") from error

    def read(self) -> int:
        """Return the number noted; 0 if none is, or the file is damaged."""
        with suppress(OSError), self._disk.reader(self._path) as file:
            return unsealed(file.read()) or 0
        return 0

    def hold(self) -> None:
        """Keep the mark as high as it is until it is released."""
        self._least = self.read()

    def release(self, changes: int) -> None:
        """Note a number, lower than before if necessary."""
        self._least = 0
        self.note(changes)

    def note(self, changes: int) -> None:
        """Note the number of changes that the ledger has committed."""
        if self._file < 0:
            return
        # A commit stands even if it can't be noted here: a low mark does no harm.
        with suppress(OSError):
            self._disk.overwrite(self._file, sealed(max(changes, self._least)))

    def close(self) -> None:
        """Close the file. Does nothing the second time."""
        if self._file >= 0:
            self._disk.close(self._file)
            self._file = -1


def sealed(changes: int) -> bytes:
    """Return a number of changes as a line of fixed length, with its checksum."""
    digits = b"%020d" % changes
    return b"%b %08x\n" % (digits, zlib.crc32(digits))


def unsealed(line: bytes) -> int | None:
    """Return the number in a line that `sealed` made; None if the line was damaged."""
    with suppress(ValueError):
        if line == sealed(changes := int(line[:_DIGITS])):
            return changes
    return None
