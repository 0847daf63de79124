"""The feed of what changed: a page of it, or one that goes on as changes happen.

The ledger is the queue: a feed has a number to continue behind, reads the next events from there,
and is woken by the ledger's commits. A slow reader holds up nothing and loses nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from semantic_memory.domain.errors import InvalidInputError, StoreClosedError
from semantic_memory.domain.feed import NOW, EventPage, MemoryEvent
from semantic_memory.domain.ports import EventFeed
from semantic_memory.domain.requests import EventsRequest, SubscribeRequest

_AT_ONCE = 100


class Feed:
    """Read the feed of the ledger. Thread-safe."""

    def __init__(self, ledger: EventFeed) -> None:
        self._ledger = ledger

    def events(self, asked: EventsRequest) -> EventPage:
        """Return a page. Raises InvalidInputError for a place that the feed hasn't reached."""
        after = self._place(asked)
        if asked.after == NOW:
            return EventPage(next=after)
        return self._ledger.events(after, asked.limit, asked.user_id, asked.kinds)

    def subscribe(self, asked: SubscribeRequest) -> Subscription:
        """Return the events behind a place, and those to come. Raises as `events` does."""

        def read(after: int) -> EventPage:
            return self._ledger.events(after, _AT_ONCE, asked.user_id, asked.kinds)

        return Subscription(read, self._ledger.on_commit, self._place(asked))

    def _place(self, asked: EventsRequest | SubscribeRequest) -> int:
        if asked.after == NOW:
            return self._ledger.last_event(asked.user_id)
        if asked.after > (last := self._ledger.last_event()):
            raise InvalidInputError(
                f"{asked.verb}: there is no event {asked.after:,} yet, the latest is {last:,}: the"
                " place is of another store, or this one was restored from a backup; list the"
                " memories anew, and continue from now"
            )
        return asked.after


class Subscription:
    """Events from a place on, as an iterator that waits for the next one.

    Ends when it or the memory is closed. For one thread; `close` may be called by any.
    """

    def __init__(
        self,
        read: Callable[[int], EventPage],
        on_commit: Callable[[Callable[[], None]], Callable[[], None]],
        after: int,
    ) -> None:
        self.read = read
        """Returns the events behind a place, without waiting."""
        self.on_commit = on_commit
        """Calls back after each change, until the function that it returns is called."""
        self.after = after
        """The place behind all that was handed out."""
        self._next = after  # behind all that was read
        self._read: deque[MemoryEvent] = deque()
        self._closed = False
        self._woken = threading.Event()
        self._stop: Callable[[], None] | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MemoryEvent:
        if self._stop is None:
            self._stop = self.on_commit(self._woken.set)
        while not self._closed:
            if self._read:
                event = self._read.popleft()
                self.after = event.id
                return event
            self.after = self._next
            self._woken.clear()
            if self._closed:  # in between, by another thread, whose call was cleared
                break
            try:
                page = self.read(self.after)
            except StoreClosedError:
                break
            self._read.extend(page)
            self._next = page.next
            if not page:
                self._woken.wait()
        self.close()
        raise StopIteration

    def close(self) -> None:
        """End the iteration."""
        self._closed = True
        if self._stop is not None:
            self._stop()
        self._woken.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
