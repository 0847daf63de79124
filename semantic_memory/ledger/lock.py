"""Lock of a data directory: one process owns it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from semantic_memory.domain.errors import StoreLockedError, StoreUnavailableError

_FIRST_PAUSE = 0.01  # seconds
_LONGEST_PAUSE = 0.25


class DirectoryLock:
    """An operating-system lock on a directory, freed by the kernel if its owner dies.

    Waits up to `patience` seconds for it. Raises StoreLockedError, which names the owner's pid, if
    another process still holds it then.
    """

    def __init__(self, directory: Path, patience: float = 0.0) -> None:
        self._owner = directory / "owner.pid"
        # Held for the process, not the thread, and even against a second opening in this process.
        self._lock = FileLock(directory / "lock", mode=0o600, thread_local=False)
        try:
            self._acquire(patience)
        except Timeout:
            raise StoreLockedError(
                f"{directory} is in use by process {self._pid()}, after a wait of {patience:g} s:"
                " close it there, or talk to the running service instead of opening its directory"
            ) from None
        except OSError as error:
            raise StoreUnavailableError(
                f"can't lock {directory}: {error.strerror or error}; check its permissions"
            ) from error
        try:
            self._owner.touch(mode=0o600)
            self._owner.write_text(str(os.getpid()), encoding="ascii")
        except OSError as error:
            self._lock.release()
            raise StoreUnavailableError(
                f"can't write in {directory}: {error.strerror or error}; check its permissions"
                " and free space"
            ) from error

    def _acquire(self, patience: float) -> None:
        """Try until the lock is free, at intervals that double. Raises Timeout."""
        end, pause = time.monotonic() + patience, _FIRST_PAUSE
        while True:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                left = end - time.monotonic()
                if left <= 0:
                    raise
                time.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return

    def _pid(self) -> str:
        try:
            return self._owner.read_text(encoding="ascii").strip() or "unknown"
        except OSError:
            return "unknown"

    def release(self) -> None:
        """Give the directory up."""
        self._owner.unlink(missing_ok=True)
        self._lock.release()
