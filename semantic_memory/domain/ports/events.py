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

        Of these kinds, or of all. The page's `next` is behind all events that were looked at; at
        least `after`.
        """
        ...

    def last_event(self, user_id: str | None = None) -> int:
        """Return the number of the latest event, of one user or of all; 0 before any."""
        ...

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes, and at the end; return how to stop it.

        It is called by the thread that wrote, and must neither wait nor raise.
        """
        ...
