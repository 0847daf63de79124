"""The feed of changes: a page of it, or an iterator that waits for further ones.

The ledger is the queue: a feed has a number to continue after, reads the next events from there,
and is woken by the ledger's commits. A slow reader holds up nothing and loses nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.closing import Closing
from semantic_memory.domain.errors import EventsRemovedError, InvalidInputError, StoreClosedError
from semantic_memory.domain.feed import NOW, EventPage, MemoryEvent
from semantic_memory.domain.ports import EventFeed
from semantic_memory.domain.requests import EventsRequest, SubscribeRequest

_AT_ONCE = 100
_REMOVED_AT_ONCE = 10_000  # in a transaction: writers wait for it

_Asked = EventsRequest | SubscribeRequest


class Feed:
    """Read the feed of the ledger. Thread-safe."""

    def __init__(self, ledger: EventFeed) -> None:
        self._ledger = ledger

    def events(self, asked: EventsRequest) -> EventPage:
        """Return a page.

        Raises InvalidInputError for a place that the feed hasn't reached, EventsRemovedError for
        one behind which events were removed.
        """
        after = self._place(asked)
        if asked.after == NOW:
            return EventPage(next=after)
        return self._page(asked, after, asked.limit)

    def subscribe(self, asked: SubscribeRequest) -> Subscription:
        """Return the events behind a place, and those to come. Raises as `events.list` does.

        So does the iteration, if events are removed before they are read.
        """
        place = self._place(asked)
        self._refuse_removed(asked.verb, place)
        return Subscription(partial(self._page, asked), self._ledger.on_commit, place)

    def _page(self, asked: _Asked, after: int, limit: int = _AT_ONCE) -> EventPage:
        page = self._ledger.events(after, limit, asked.user_id, asked.kinds)
        self._refuse_removed(asked.verb, after)  # now: what was removed before is missing in it
        return page

    def _refuse_removed(self, verb: str, after: int) -> None:
        resume = self._ledger.first_event() - 1
        if 0 < after < resume:
            raise EventsRemovedError(
                f"{verb}: the events from {after + 1:,} to {resume:,} were removed, as"
                f" upkeep.events are kept: list the memories again, and continue after {resume},"
                " or from now",
                resume,
            )

    def _place(self, asked: _Asked) -> int:
        if asked.after == NOW:
            return self._ledger.last_event()
        if asked.after > (last := self._ledger.last_event()):
            raise InvalidInputError(
                f"{asked.verb}: there is no event {asked.after:,} yet, the latest is {last:,}: the"
                " place is of another store, or this one was restored from a backup; list the"
                " memories again, and continue from now"
            )
        return asked.after


class FeedPruning:
    """Remove the oldest events: all but the latest `most`, and those that `held` still needs."""

    def __init__(self, ledger: EventFeed, most: int, held: Callable[[], int | None]) -> None:
        """`held` returns the place behind which nothing may be removed, None for no such place."""
        self._ledger = ledger
        self._most = most
        self._held = held

    def prune(self, user_id: str | None, *, dry_run: bool) -> Iterator[Outcome]:
        """Remove events, of all users alike: nothing for the sake of a single one."""
        first, held = self._ledger.first_event(), self._held()
        until = self._ledger.last_event() - self._most
        until = until if held is None else min(until, held)
        number = max(0, until - first + 1) if first else 0
        if user_id is not None or not number:
            return
        outcome = Outcome()
        outcome.counts["events"] = number
        if dry_run:
            outcome.planned.append(f"remove {number:,} old events of the feed")
        else:
            for start in range(first, until + 1, _REMOVED_AT_ONCE):
                self._ledger.drop_events(min(start + _REMOVED_AT_ONCE - 1, until))
        yield outcome


class Subscription(Closing):
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
