"""The feed of events, as far as they are numbered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from semantic_memory.domain.feed import EventKind, EventPage
from semantic_memory.ledger.postgres.numbering import LAST, PATIENCE_SECONDS, number_events
from semantic_memory.ledger.postgres.part import Part
from semantic_memory.ledger.sql.events import EVENT, EventRow, to_event
from semantic_memory.ledger.sql.part import Database

_SELECT = (
    f"SELECT {EVENT} FROM events e"
    " LEFT JOIN facts f ON f.user_id = e.user_id AND f.num = e.fact WHERE e.num > ?"
)


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
        query = _SELECT
        values: list[Any] = [after]
        if user_id is not None:
            query += " AND e.user_id = ?"
            values.append(user_id)
        if kinds:
            query += " AND e.kind = ANY(?)"
            values.append([kind.value for kind in kinds])
        with self._numbered() as db:
            last = _number(db, LAST)
            rows = db.execute(
                f"{query} AND e.num <= ? ORDER BY e.num LIMIT ?", (*values, last, limit)
            )
            found = [to_event(EventRow._make(row)) for row in rows]
        return EventPage(found, found[-1].id if len(found) == limit else max(after, last))

    def first_event(self) -> int:
        """Return the number of the oldest event that is kept; 0 before any."""
        with self._numbered() as db:
            return _number(db, "SELECT coalesce(min(num), 0) FROM events")

    def last_event(self) -> int:
        """Return the number of the latest event; 0 before any."""
        with self._numbered() as db:
            return _number(db, LAST)

    def drop_events(self, until: int) -> int:
        """Delete the events up to a number, but never the latest one; return how many."""
        number_events(self._connections, PATIENCE_SECONDS)
        with self._connections.transaction() as db:
            # The next number is one more than the highest present.
            query = f"DELETE FROM events WHERE num <= ? AND num < ({LAST})"
            return db.execute(query, (until,)).rowcount

    @contextmanager
    def _numbered(self) -> Iterator[Database]:
        """Lend a connection that sees numbers of all that was committed, if there is time."""
        number_events(self._connections, PATIENCE_SECONDS)
        with self._connections.snapshot() as db:
            yield db


def _number(db: Database, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
