"""Reading the feed of changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from semantic_memory.domain.feed import EventKind, EventPage


class EventFeed(Protocol):
    """Numbers the changes of memories and the extractions, in the transactions that make them.

    An event of a memory is a version of it: adding, updating, forgetting and cutting are events;
    use, vectors and what is derived from a memory aren't.
    """

    def events(
        self,
        after: int,
        limit: int,
        user_id: str | None = None,
        kinds: Collection[EventKind] = (),
    ) -> EventPage:
        """Return the first `limit` events after number `after`, of one user or of all.

        Of these kinds, or of all. The page's `next` is behind all events that were looked at, of
        whichever users; at least `after`.
        """
        ...

    def first_event(self) -> int:
        """Return the number of the oldest event that is kept; 0 before any."""
        ...

    def last_event(self) -> int:
        """Return the number of the latest event; 0 before any."""
        ...

    def drop_events(self, until: int) -> int:
        """Delete the events up to a number, but never the latest one; return how many."""
        ...

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes, and at the end; return how to stop it.

        It is called by the thread that wrote, and must neither wait nor raise.
        """
        ...
