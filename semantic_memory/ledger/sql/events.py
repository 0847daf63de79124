"""Events: noting them, and their rows."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from semantic_memory.domain.changes import Extracted
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.ledger import rules
from semantic_memory.ledger.sql.part import Database
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
EVENT = (
    "e.num, e.kind, e.at, e.user_id, f.id, e.version, e.status, f.category, e.action,"
    f" CASE e.kind WHEN '{EventKind.FORGOTTEN.value}' THEN f.reason ELSE '' END, f.superseded_by,"
    " f.agent_id, f.run_id, coalesce(e.session_id, f.session_id), e.messages, e.facts"
)
"""Selects an EventRow of `events e`, left joined to `facts f`."""


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
