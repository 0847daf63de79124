"""Tell what changed of late, and whose memory was active."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import get_args

from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.domain.inspection import (
    Activity,
    ChangeGroup,
    RecentChange,
    RecentChanges,
)
from semantic_memory.domain.ports import Ledger

_PAGE = 1_000
_MOST_READ = 50_000  # events of a period, of which the latest count
_MARKED, _PLACED = "marked", "placed"
_BY_STATUS: Mapping[Status | None, ChangeGroup] = {
    Status.QUARANTINED: "quarantined",
    Status.ARCHIVED: "archived",
    Status.SUPERSEDED: "ended",
    Status.FORGOTTEN: "forgotten",
}


def group_of(event: MemoryEvent) -> ChangeGroup | None:
    """Return the group of a change; None for one that a person needn't look at.

    Messages that were taken in, the reading of them, and the order in which statements are shown
    are no changes of what is believed.
    """
    if event.kind in (EventKind.OBSERVED, EventKind.EXTRACTED) or event.action == _PLACED:
        return None
    if (known := _BY_STATUS.get(event.status)) is not None:
        return known
    if event.kind is EventKind.ADDED:
        return "learnt"
    if event.action == _MARKED:
        return "marked"
    return None if event.category is Category.CONVERSATION else "changed"


class Recent:
    """Read the feed of changes from a time on. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def changes(self, user_id: str, since: datetime, limit: int) -> RecentChanges:
        """Return what changed in a user's memory since a time: the latest `limit` of each group."""
        counts: Counter[ChangeGroup] = Counter()
        latest: dict[ChangeGroup, deque[MemoryEvent]] = {
            group: deque(maxlen=limit) for group in get_args(ChangeGroup)
        }
        for event in self._events(since, user_id):
            if (group := group_of(event)) is not None:
                counts[group] += 1
                latest[group].append(event)
        shown = [(group, event) for group, events in latest.items() for event in events]
        shown.sort(key=lambda one: one[1].id, reverse=True)
        return RecentChanges(since=since, counts=counts, items=self._with_facts(user_id, shown))

    def activity(self, users: Sequence[str], since: datetime) -> list[Activity]:
        """Return how much happened in the memory of each user since a time, most recent first."""
        changes: Counter[str] = Counter()
        last: dict[str, datetime] = {}
        for event in self._events(since, None):
            changes[event.user_id] += 1
            last[event.user_id] = event.at
        waiting = Counter(key.user_id for key in self._ledger.unextracted())
        found = [
            Activity(user_id=one, changes=changes[one], last_at=last.get(one), waiting=waiting[one])
            for one in users
        ]
        return sorted(found, key=lambda one: _age(one.last_at), reverse=True)

    def _events(self, since: datetime, user_id: str | None) -> Iterator[MemoryEvent]:
        after = max(self._before(since), self._ledger.last_event() - _MOST_READ, 0)
        while page := self._ledger.events(after, _PAGE, user_id):
            yield from (event for event in page if event.at >= since)
            after = page.next

    def _before(self, since: datetime) -> int:
        """Return the number of an event behind which those since a time are, by bisection."""
        low, high = max(0, self._ledger.first_event() - 1), self._ledger.last_event()
        while low < high:
            middle = (low + high) // 2
            found = self._ledger.events(middle, 1)
            if found and found[0].at < since:
                low = found[0].id
            else:
                high = middle
        return low

    def _with_facts(
        self, user_id: str, shown: Sequence[tuple[ChangeGroup, MemoryEvent]]
    ) -> tuple[RecentChange, ...]:
        facts = self._by_id(user_id, (event.memory_id for _, event in shown))
        newer = self._by_id(user_id, (_newer_of(facts.get(e.memory_id or "")) for _, e in shown))
        return tuple(
            RecentChange(
                group=group,
                event=event,
                fact=(fact := facts.get(event.memory_id or "")),
                newer=newer.get(_newer_of(fact) or ""),
            )
            for group, event in shown
        )

    def _by_id(self, user_id: str, ids: Iterator[str | None]) -> Mapping[str, Fact]:
        wanted = sorted({one for one in ids if one is not None})
        return {fact.id: fact for fact in self._ledger.get(wanted, user_id)}


def _newer_of(fact: Fact | None) -> str | None:
    """Return the id of what ended, absorbed or perhaps changed a memory."""
    if fact is None:
        return None
    links = [link.newer for link in fact.perhaps_changed if link.newer]
    return fact.superseded_by or (links[-1] if links else None)


def _age(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp()
