"""Work on other threads: a step done whenever it is asked for, calls that closing waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from pydantic import ValidationError

from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.events import Event, LockWaited

KeyT = TypeVar("KeyT")


def reason(error: Exception) -> str:
    """What to tell of an error, without the values that pydantic quotes: they are what was said."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)
        fields = (f"{'.'.join(map(str, one['loc']))} ({one['type']})" for one in found)
        return f"{type(error).__name__}: {error.title}: {', '.join(fields)}"
    return f"{type(error).__name__}: {error}"


class AbstractLock(Protocol):
    """What `threading.Lock`, `RLock` and the semaphores have in common."""

    def acquire(self, blocking: bool = True) -> bool:
        """Take it; whether it was taken."""
        ...

    def release(self) -> None:
        """Give it back."""
        ...


class Contended:
    """A lock or semaphore as a context manager, which tells when it had to be waited for."""

    def __init__(
        self,
        name: str,
        lock: AbstractLock,
        observe: Callable[[Event], None],
    ) -> None:
        self._name = name
        self._lock = lock
        self._observe = observe

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            start = time.perf_counter()
            self._lock.acquire()
            self._observe(LockWaited(self._name, time.perf_counter() - start))

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class KeyedLocks(Generic[KeyT]):
    """A lock for each key, kept only while somebody holds or waits for it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[KeyT, tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, key: KeyT) -> Iterator[None]:
        """Hold the lock of `key`. Not reentrant."""
        with self._guard:
            lock, users = self._locks.get(key) or (threading.Lock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1


class Calls:
    """Counts calls under way, so that closing can wait for them and refuse later ones."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self._closed = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Held during a call. Raises StoreClosedError once closed."""
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
