"""The feed of events: one for each version of a memory, and for each extraction."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice

from semantic_memory.domain.changes import Extracted
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.feed import EventKind, EventPage, MemoryEvent
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row, Tables


def note(tables: Tables, old: Fact | None, row: Row) -> None:
    """Number a change of a memory; what else is known of it is read from its row."""
    number = _last(tables) + 1
    tables.events[number] = MemoryEvent(
        id=number,
        kind=rules.kind_of_event(old, row.fact),
        at=row.changed_at,
        user_id=row.fact.user_id,
        memory_id=row.fact.id,
        version=row.fact.version,
        status=row.fact.status,
        action=row.action,
    )


def note_extraction(tables: Tables, done: Extracted) -> None:
    """Number an extraction."""
    number = _last(tables) + 1
    tables.events[number] = MemoryEvent(
        id=number,
        kind=EventKind.EXTRACTED,
        at=done.at,
        user_id=done.user_id,
        session_id=done.session_id,
        messages=done.messages,
        facts=done.facts,
    )


class EventReader(Part):
    """The role `EventFeed`."""

    def events(
        self,
        after: int,
        limit: int,
        user_id: str | None = None,
        kinds: Collection[EventKind] = (),
    ) -> EventPage:
        """Return the first `limit` events after number `after`, of one user or of all."""
        tables = self._store.snapshot()
        met = (
            event
            for number, event in tables.events.items()
            if number > after
            and user_id in (None, event.user_id)
            and (not kinds or event.kind in kinds)
        )
        found = [_completed(event, tables) for event in islice(met, limit)]
        last = found[-1].id if len(found) == limit else max(after, _last(tables))
        return EventPage(found, last)

    def first_event(self) -> int:
        """Return the number of the oldest event that is kept; 0 before any."""
        return next(iter(self._store.snapshot().events), 0)

    def last_event(self) -> int:
        """Return the number of the latest event; 0 before any."""
        return _last(self._store.snapshot())

    def drop_events(self, until: int) -> int:
        """Delete the events up to a number, but never the latest one; return how many."""
        with self._store.transaction() as tables:
            last = _last(tables)
            old = [number for number in tables.events if number <= until and number < last]
            for number in old:
                del tables.events[number]
            return len(old)

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes, and at the end."""
        return self._store.bell.listen(wake)


def _last(tables: Tables) -> int:
    return next(reversed(tables.events), 0)


def _completed(event: MemoryEvent, tables: Tables) -> MemoryEvent:
    """Return an event with what its memory has at present."""
    if event.memory_id is None:
        return event
    row = tables.facts[event.memory_id]
    successor = row.fact.superseded_by if rules.shows_successor(event.status) else None
    return event.model_copy(
        update={
            "category": row.fact.category,
            "reason": row.reason if event.kind is EventKind.FORGOTTEN else "",
            "superseded_by": successor,
            "agent_id": row.fact.agent_id,
            "run_id": row.fact.run_id,
            "session_id": row.session_id or row.fact.source.session_id,
        }
    )
