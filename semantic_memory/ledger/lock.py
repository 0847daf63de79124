"""One process owns a data directory."""

from __future__ import annotations

import os
from pathlib import Path

from filelock import FileLock, Timeout

from semantic_memory.domain.errors import StoreLockedError, StoreUnavailableError


class DirectoryLock:
    """An operating-system lock on a directory, freed by the kernel if its owner dies.

    Raises StoreLockedError, which names the owner's pid, while another process holds it.
    """

    def __init__(self, directory: Path) -> None:
        self._owner = directory / "owner.pid"
        # Held for the process, not the thread, and even against a second opening in this process.
        self._lock = FileLock(directory / "lock", mode=0o600, thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StoreLockedError(
                f"{directory} is in use by process {self._pid()}: close it there, or talk to the"
                " running service instead of opening its directory"
            ) from None
        except OSError as error:
            raise StoreUnavailableError(
                f"can't lock {directory}: {error.strerror or error}; check its permissions"
            ) from error
        try:
            self._owner.write_text(str(os.getpid()), encoding="ascii")
        except OSError as error:
            self._lock.release()
            raise StoreUnavailableError(
                f"can't write in {directory}: {error.strerror or error}; check its permissions"
                " and free space"
            ) from error

    def _pid(self) -> str:
        try:
            return self._owner.read_text(encoding="ascii").strip() or "unknown"
        except OSError:
            return "unknown"

    def release(self) -> None:
        """Give the directory up."""
        self._owner.unlink(missing_ok=True)
        self._lock.release()
