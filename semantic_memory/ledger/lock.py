"""Lock of a data directory: one process owns it, or several read it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from filelock import FileLock, Timeout

from semantic_memory.domain.errors import StoreLockedError, StoreUnavailableError
from semantic_memory.sharing.owner import PID_FILE, holder

_FIRST_PAUSE = 0.01  # seconds
_LONGEST_PAUSE = 0.25


class DirectoryLock:
    """An operating-system lock on a directory, freed by the kernel if its owner dies.

    Waits up to `patience` seconds for it, unless `in_vain` says that its owner shares it. Raises
    StoreLockedError, which names the owner's pid, if another process still holds it then.
    """

    def __init__(
        self,
        directory: Path,
        patience: float = 0.0,
        in_vain: Callable[[], bool] = lambda: False,
    ) -> None:
        self._owner = directory / PID_FILE
        # Held for the process, not the thread, and even against a second opening in this process.
        self._lock = FileLock(directory / "lock", mode=0o600, thread_local=False)
        try:
            self._acquire(patience, in_vain)
        except Timeout:
            raise StoreLockedError(
                f"{directory} is in use by process {holder(directory) or 'unknown'}, after a wait"
                f" of {patience:g} s: close it there; what `serve`, `mcp` or"
                " `SemanticMemory.connect` opened is shared"
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

    def _acquire(self, patience: float, in_vain: Callable[[], bool]) -> None:
        """Try until the lock is free, at intervals that double. Raises Timeout."""
        end, pause = time.monotonic() + patience, _FIRST_PAUSE
        while True:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                left = end - time.monotonic()
                if left <= 0 or in_vain():
                    raise
                time.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return

    def release(self) -> None:
        """Give the directory up."""
        self._owner.unlink(missing_ok=True)
        self._lock.release()


class ReadingLock:
    """A share in a directory that may not be written, for as long as no process owns it.

    Raises StoreLockedError while one does. Where the lock can't be asked for, nothing is held.
    """

    def __init__(self, directory: Path) -> None:
        self._file = -1
        if fcntl is None:
            return
        with suppress(OSError):  # no process has ever locked it
            self._file = os.open(directory / "lock", os.O_RDONLY)
        if self._file >= 0:
            try:
                fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                self.release()
                raise StoreLockedError(
                    f"{directory} may not be written here, and another process has it open: close"
                    " it there, or talk to the running service instead of opening its directory"
                ) from None
            except OSError:  # a file system without locks
                self.release()

    def release(self) -> None:
        """Give the share up."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_held(directory: Path) -> bool:
    """Return True if a process has the lock of a directory."""
    if not (directory / "lock").exists():
        return False
    lock = FileLock(directory / "lock", mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False  # opening it reports the reason
    lock.release()
    return False
