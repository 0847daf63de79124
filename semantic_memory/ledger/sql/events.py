"""The feed of events: one row for each version of a memory, and for each extraction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from semantic_memory.domain.changes import Extracted
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.feed import EventKind, EventPage, MemoryEvent
from semantic_memory.ledger import rules
from semantic_memory.ledger.sql.part import Database, Part
from semantic_memory.ledger.sql.rows import decoding, micros, moment

_INSERT = (
    "INSERT INTO events (user_id, kind, at, fact, version, status, action)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_EXTRACTION = (
    "INSERT INTO events (user_id, kind, at, action, session_id, messages, facts)"
    " VALUES (?, ?, ?, '', ?, ?, ?)"
)
# Reasons of other changes may quote what is forgotten later.
_SELECT = (
    "SELECT e.num, e.kind, e.at, e.user_id, f.id, e.version, e.status, f.category, e.action,"
    f" CASE e.kind WHEN '{EventKind.FORGOTTEN.value}' THEN f.reason ELSE '' END, f.superseded_by,"
    " f.agent_id, f.run_id, coalesce(e.session_id, f.session_id), e.messages, e.facts"
    " FROM events e LEFT JOIN facts f ON f.user_id = e.user_id AND f.num = e.fact"
)
LAST = "SELECT coalesce(max(num), 0) FROM events"


class Event(NamedTuple):
    """A change of a memory to note."""

    num: int | None
    old: Fact | None
    new: Fact
    action: str
    at: datetime


class EventRow(NamedTuple):
    """The columns of an event and of its memory."""

    num: int
    kind: str
    at: int
    user_id: str
    memory_id: str | None
    version: int | None
    status: str | None
    category: str | None
    action: str
    reason: str
    superseded_by: str | None
    agent_id: str | None
    run_id: str | None
    session_id: str | None
    messages: int | None
    facts: int | None


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
            named = [kind.value for kind in kinds]
            among, bound = self._connections.dialect.among("e.kind", named)
            condition += f" AND {among}"
            values += bound
        self._settle()
        with self._connections.snapshot() as db:
            rows = db.execute(
                f"{_SELECT} WHERE {condition} ORDER BY e.num LIMIT ?", (*values, limit)
            ).fetchall()
            (last,) = db.execute(LAST).fetchone()
        found = [to_event(EventRow._make(row)) for row in rows]
        return EventPage(found, found[-1].id if len(found) == limit else max(after, last))

    def first_event(self) -> int:
        """Return the number of the oldest event that is kept; 0 before any."""
        self._settle()
        return self._number("SELECT coalesce(min(num), 0) FROM events")

    def last_event(self) -> int:
        """Return the number of the latest event; 0 before any."""
        self._settle()
        return self._number(LAST)

    def drop_events(self, until: int) -> int:
        """Delete the events up to a number, but never the latest one; return how many."""
        self._settle()
        with self._connections.transaction() as db:
            # The next number is one more than the highest present.
            query = f"DELETE FROM events WHERE num <= ? AND num < ({LAST})"
            return db.execute(query, (until,)).rowcount

    def _settle(self) -> None:
        """Have all that was committed numbered, if there is time."""


def note(db: Database, event: Event) -> None:
    """Number a change of a memory."""
    kind = rules.kind_of_event(event.old, event.new)
    new = event.new
    state = (event.num, new.version, new.status.value, event.action)
    db.execute(_INSERT, (new.user_id, kind.value, micros(event.at), *state))


def note_extraction(db: Database, done: Extracted) -> None:
    """Number an extraction."""
    values = (micros(done.at), done.session_id, done.messages, done.facts)
    db.execute(_INSERT_EXTRACTION, (done.user_id, EventKind.EXTRACTED.value, *values))


@decoding
def to_event(row: EventRow) -> MemoryEvent:
    """Return the event of a row."""
    status = None if row.status is None else Status(row.status)
    return MemoryEvent(
        id=row.num,
        kind=EventKind(row.kind),
        at=moment(row.at),
        user_id=row.user_id,
        memory_id=row.memory_id,
        version=row.version,
        status=status,
        category=None if row.category is None else Category(row.category),
        action=row.action,
        reason=row.reason,
        superseded_by=row.superseded_by if rules.shows_successor(status) else None,
        agent_id=row.agent_id or None,
        run_id=row.run_id or None,
        session_id=row.session_id,
        messages=row.messages,
        facts=row.facts,
    )
