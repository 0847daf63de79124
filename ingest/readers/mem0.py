"""Reader of mem0: what `get_all` returns, or `history`, as JSON.

`get_all` returns a list of memories, or an object with it as `results`; the platform adds
categories and a date of expiry. `history` returns the events of a memory; the lists of several may
be joined. Relations of graph memory repeat what the memories say, and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import BufferedReader
from itertools import pairwise
from typing import Any

from pydantic import Field

from ingest.readers.documents import items
from ingest.readers.records import (
    Foreign,
    Found,
    IncomingRecord,
    given,
    parsed,
    read_each,
    stated,
)
from semantic_memory.domain.values import Timestamp

_SYSTEM = "mem0"
_DELETED = "DELETE"


class _Owned(Foreign):
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    metadata: Mapping[str, Any] | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class _Memory(_Owned):
    id: str
    memory: str
    hash: str | None = None
    categories: Sequence[str] | None = None
    expiration_date: Timestamp | None = None


class _Event(_Owned):
    memory_id: str
    event: str = Field(min_length=1)
    new_memory: str | None = None
    is_deleted: bool = False


def read_mem0(file: BufferedReader, written: datetime) -> Iterator[Found]:
    """Read memories as facts, and of a history the earlier texts as well, ended and replaced.

    What was deleted there isn't brought here. `written` dates what has no time.
    """
    histories: defaultdict[str, list[_Event]] = defaultdict(list)

    def one(item: Any, place: str) -> Iterator[Found]:
        if isinstance(item, Mapping) and "memory_id" in item:
            event = parsed(_Event, item)
            histories[event.memory_id].append(event)
        else:
            yield _fact(parsed(_Memory, item), place, written)

    yield from read_each(items(file, "results"), "memory", one)
    events = (_states(history, written) for history in histories.values())
    yield from read_each(events, "history", _past)


def _fact(memory: _Memory, place: str, written: datetime) -> IncomingRecord:
    said = memory.created_at or memory.updated_at or written
    statement = stated(
        **_common(memory, memory.id, memory.memory, said),
        confirmed_at=memory.updated_at,
        valid_from=memory.updated_at,
        expires_at=memory.expiration_date,
        tags=tuple(memory.categories or ()),
    )
    return IncomingRecord(memory.user_id or None, place, statement)


def _states(history: Sequence[_Event], written: datetime) -> list[tuple[datetime, _Event]]:
    """Return the texts that a memory had with their times, in order; none if it was deleted."""
    if any(one.is_deleted or one.event.upper() == _DELETED for one in history):
        return []  # whatever the times, of which deletions often have none
    dated = [(one.updated_at or one.created_at or written, one) for one in history]
    dated.sort(key=lambda state: state[0])
    return [state for state in dated if state[1].new_memory]


def _past(states: Sequence[tuple[datetime, _Event]], place: str) -> Iterator[Found]:
    """Yield the current text, then the earlier ones, of which none is yielded twice."""
    if not states:
        return
    at, event = states[-1]
    yield _state(at, event, place)
    seen = {event.new_memory}
    for (at, event), (until, following) in reversed([*pairwise(states)]):
        if event.new_memory not in seen:
            seen.add(event.new_memory)
            after = (following.memory_id, following.new_memory)
            yield _state(at, event, place, valid_to=until, replaced_by=after)


def _state(at: datetime, event: _Event, place: str, **ended: Any) -> IncomingRecord:
    common = _common(event, event.memory_id, event.new_memory or "", at)
    return IncomingRecord(event.user_id or None, place, stated(**common, **ended))


def _common(one: _Owned, memory_id: str, text: str, said: datetime) -> dict[str, Any]:
    """Return the fields of a statement. Its text is part of its key, as an update replaces it."""
    origin = given(
        id=memory_id,
        app_id=one.app_id,
        actor_id=one.actor_id,
        role=one.role,
        hash=getattr(one, "hash", None),
    )
    return {
        "system": _SYSTEM,
        "key": (memory_id, text),
        "content": text,
        "agent_id": one.agent_id or None,
        "run_id": one.run_id or None,
        "created_at": said,
        "metadata": one.metadata or None,
        "origin": origin,
    }
