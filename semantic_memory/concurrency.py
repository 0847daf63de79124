"""Background threads, lock waits as events, and calls that closing waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from pydantic import ValidationError

from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.events import Event, LockWaited, WorkerFailed

_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 60.0


def reason(error: Exception) -> str:
    """Describe an error without the values that pydantic quotes, which may be message text."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)
        fields = (f"{'.'.join(map(str, one['loc']))} ({one['type']})" for one in found)
        return f"{type(error).__name__}: {error.title}: {', '.join(fields)}"
    return f"{type(error).__name__}: {error}"


class AbstractLock(Protocol):
    """Interface common to `threading.Lock`, `RLock` and semaphores."""

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire it; return True if it was acquired."""
        ...

    def release(self) -> None:
        """Release it."""
        ...


class Contended:
    """Context manager around a lock or semaphore that emits an event if it had to wait."""

    def __init__(
        self,
        name: str,
        lock: AbstractLock,
        emit: Callable[[Event], None],
    ) -> None:
        self._name = name
        self._lock = lock
        self._emit = emit

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            start = time.perf_counter()
            self._lock.acquire()
            self._emit(LockWaited(self._name, time.perf_counter() - start))

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class Calls:
    """Count of the calls under way, so that closing can wait for them and refuse later ones."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self._closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call while the context lasts. Raises StoreClosedError once closed."""
        with self._changed:
            if self._closed:
                raise StoreClosedError("this memory has been closed")
            self._number += 1
        try:
            yield
        finally:
            with self._changed:
                self._number -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Refuse further calls, and wait for those under way."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._number)


class Worker:
    """Background thread that runs `step`, one run at a time.

    `step` returns the seconds until its next run, or None to wait for `wake`. Wakes within
    `gather_seconds` lead to one run. If a run raises, the worker emits WorkerFailed and runs again
    after 1, 2, 4, ... 60 s, or when woken.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        emit: Callable[[Event], None],
        gather_seconds: float = 0.0,
    ) -> None:
        self._name = name
        self._step = step
        self._emit = emit
        self._gather = gather_seconds
        self._woken = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Request a run."""
        self._woken.set()

    def close(self, timeout: float | None = None) -> None:
        """Stop after the run under way; wait for it, at most `timeout` seconds if given."""
        self._ending.set()
        self._woken.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        pause: float | None = None
        retry = _FIRST_RETRY_SECONDS
        while True:
            self._woken.wait(timeout=pause)
            if self._gather and not self._ending.is_set():
                self._ending.wait(self._gather)
            if self._ending.is_set():
                return
            self._woken.clear()
            try:
                pause = self._step()
                retry = _FIRST_RETRY_SECONDS
            except Exception as error:
                if self._ending.is_set():
                    return
                self._emit(WorkerFailed(self._name, reason(error), retry))
                pause, retry = retry, min(2 * retry, _LAST_RETRY_SECONDS)
