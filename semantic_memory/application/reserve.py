"""Room kept on the disk, so that a full one can still be opened, to read and to forget."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.files import write_whole
from semantic_memory.domain.ports.disk import Disk

ResultT = TypeVar("ResultT")

RESERVE = "reserve"
"""Name of the file."""

_BYTES = 2_000_000
"""Room for SQLite's files, a transaction that forgets, and a session log to rewrite."""
_PART = 10
"""Part of a small disk that it takes at most: a tenth."""


class Room(Protocol):
    """Room for what must be written even on a full disk."""

    def lend(self, call: Callable[[], ResultT]) -> ResultT:
        """Return what `call` returns; call it again with more room if the disk fails."""
        ...


class NoRoom:
    """No room of its own: the disk is a server's."""

    def lend(self, call: Callable[[], ResultT]) -> ResultT:
        """Return what `call` returns."""
        return call()


class Reserve:
    """A file of zeros beside the ledger, deleted when its room is needed. Thread-safe."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._path = directory / RESERVE
        self._disk = disk

    def lend(self, call: Callable[[], ResultT]) -> ResultT:
        """Return what `call` returns; call it again, with the reserve's room, if the disk fails."""
        try:
            return call()
        except StoreUnavailableError:
            if not self._released():
                raise
        try:
            return call()
        finally:
            self.keep()

    def keep(self) -> None:
        """Fill the reserve, as far as there is room."""
        with suppress(OSError):
            wanted = min(_BYTES, shutil.disk_usage(self._path.parent).total // _PART)
            missing = wanted - (self._path.stat().st_size if self._path.exists() else 0)
            if missing > 0:
                file = self._disk.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                try:
                    write_whole(self._disk, file, bytes(missing))
                finally:
                    self._disk.close(file)

    def _released(self) -> bool:
        """Delete the reserve; return True if there was one."""
        with suppress(OSError):
            if self._path.exists() and self._path.stat().st_size:
                self._disk.remove(self._path)
                return True
        return False
