"""The feed of events: one row for each version of a memory, and for each extraction."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection
from typing import Any

from semantic_memory.domain.feed import EventKind, EventPage
from semantic_memory.ledger.sql.events import EVENT, EventRow, to_event
from semantic_memory.ledger.sqlite.part import Part

_SELECT = f"SELECT {EVENT} FROM events e LEFT JOIN facts f ON f.num = e.fact"


class EventReader(Part):
    """The role `EventFeed`, except waking its followers."""

    def events(
        self,
        after: int,
        limit: int,
        user_id: str | None = None,
        kinds: Collection[EventKind] = (),
    ) -> EventPage:
        """Return the first `limit` events after number `after`, of one user or of all."""
        condition = "e.num > ?"
        values: list[Any] = [after]
        if user_id is not None:
            condition += " AND e.user_id = ?"
            values.append(user_id)
        if kinds:
            condition += f" AND e.kind IN ({', '.join('?' * len(kinds))})"
            values += [kind.value for kind in kinds]
        query = f"{_SELECT} WHERE {condition} ORDER BY e.num LIMIT ?"
        with self._connections.snapshot() as db:
            rows = db.execute(query, (*values, limit)).fetchall()
            last = _last(db)
        found = [to_event(EventRow._make(row)) for row in rows]
        return EventPage(found, found[-1].id if len(found) == limit else max(after, last))

    def first_event(self) -> int:
        """Return the number of the oldest event that is kept; 0 before any."""
        return self._number("SELECT coalesce(min(num), 0) FROM events")

    def last_event(self) -> int:
        """Return the number of the latest event; 0 before any."""
        with self._connections.snapshot() as db:
            return _last(db)

    def drop_events(self, until: int) -> int:
        """Delete the events up to a number, but never the latest one; return how many."""
        with self._connections.transaction() as db:
            # The next number is one more than the highest present.
            last = _last(db)
            return db.execute(
                "DELETE FROM events WHERE num <= ? AND num < ?", (until, last)
            ).rowcount


def _last(db: Connection) -> int:
    (last,) = db.execute("SELECT coalesce(max(num), 0) FROM events").fetchone()
    return int(last)
