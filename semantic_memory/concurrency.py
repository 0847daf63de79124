"""The clock, locks, calls that closing waits for, and runs that it stops."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.events import Event, LockWaited
from semantic_memory.domain.observers import ignore_event

KeyT = TypeVar("KeyT")


class SystemClock:
    """The wall clock."""

    def now(self) -> datetime:
        """Return the present, in UTC."""
        return datetime.now(UTC)


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


class FairLock:
    """A lock that is granted in the order of asking, so that none waits behind later ones.

    Reentrant. `threading.RLock` may be taken again and again by a thread that has just released it.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._waiting: deque[tuple[int, threading.Lock]] = deque()

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire it; return True if it was acquired."""
        own = threading.get_ident()
        with self._guard:
            if self._owner in (None, own):
                self._owner = own
                self._depth += 1
                return True
            if not blocking:
                return False
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append((own, turn))
        try:
            turn.acquire()  # until `release` hands it over
        except BaseException:  # an interrupt; it must not be handed to a thread that is gone
            with self._guard:
                waits = (own, turn) in self._waiting
                if waits:
                    self._waiting.remove((own, turn))
            if not waits:
                self.release()
            raise
        return True

    def release(self) -> None:
        """Release it; it is the next thread's at once, if one waits."""
        with self._guard:
            self._depth -= 1
            if self._depth:
                return
            self._owner = None
            if self._waiting:
                self._owner, turn = self._waiting.popleft()
                self._depth = 1
                turn.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


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


class KeyedLocks(Generic[KeyT]):
    """A lock for each key, which exists only while it is held or waited for. Reentrant."""

    def __init__(self, name: str = "key", emit: Callable[[Event], None] = ignore_event) -> None:
        """Emit an event of this name for each that has to wait."""
        self._name = name
        self._emit = emit
        self._guard = threading.Lock()
        self._locks: dict[KeyT, tuple[FairLock, int]] = {}

    @contextmanager
    def hold(self, key: KeyT) -> Iterator[None]:
        """Hold the lock of `key`, in the order of asking."""
        with self._guard:
            lock, users = self._locks.get(key) or (FairLock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with Contended(self._name, lock, self._emit):
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1


class Bell:
    """Listeners that are called when something has happened. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._listeners: dict[object, Callable[[], None]] = {}

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` whenever it rings; return how to stop that, but for a call under way."""
        mark = object()
        with self._guard:
            self._listeners[mark] = wake

        def stop() -> None:
            with self._guard:
                self._listeners.pop(mark, None)

        return stop

    def ring(self) -> None:
        """Call every listener."""
        with self._guard:
            listeners = [*self._listeners.values()]
        for wake in listeners:
            wake()


class Backoff(NamedTuple):
    """Pauses after failures in a row, in seconds: doubled each time."""

    first: float = 1.0
    most: float = 300.0

    def pause(self, failures: int) -> float:
        """Return the pause after the latest of so many failures."""
        return min(self.most, self.first * 2.0 ** min(failures - 1, 30))


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


_stopping: ContextVar[threading.Event | None] = ContextVar("stopping", default=None)


@contextmanager
def stopped_by(stopping: threading.Event) -> Iterator[None]:
    """Let `check_stopped` fail on this thread once `stopping` is set, while the context lasts."""
    token = _stopping.set(stopping)
    try:
        yield
    finally:
        _stopping.reset(token)


def check_stopped() -> None:
    """Raise StoreClosedError if the run on this thread is to stop.

    Local models call it before each text: a run may have thousands, and a daemon thread that is
    still in native code when the interpreter ends aborts the process.
    """
    stopping = _stopping.get()
    if stopping is not None and stopping.is_set():
        raise stopped()


def stopped() -> StoreClosedError:
    """Return the error of work that closing left undone."""
    return StoreClosedError(
        "this memory was closed before everything was done; the rest is taken up when it is opened"
        " again"
    )
