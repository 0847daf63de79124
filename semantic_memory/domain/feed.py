"""The feed of a memory: what changed in it, as numbered events without texts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.values import Identifier, Timestamp, Value

NOW: Literal["now"] = "now"
"""The place behind the latest event."""


class EventKind(StrEnum):
    """Kinds of events."""

    OBSERVED = "observed"
    """A message became a memory."""
    ADDED = "added"
    """A fact was added."""
    UPDATED = "updated"
    """A memory was changed, confirmed, merged, archived, quarantined or restored: see `action`."""
    SUPERSEDED = "superseded"
    """A newer fact replaced a memory."""
    FORGOTTEN = "forgotten"
    """A memory was forgotten."""
    EXTRACTED = "extracted"
    """Messages of a session were read, and facts drawn from them."""


class MemoryEvent(Value):
    """A change of a user's memory. It has ids and no texts: `get` returns the memory."""

    id: int
    """Number of the event in this store, ascending; a feed continues after it."""
    kind: EventKind
    at: Timestamp
    user_id: Identifier
    memory_id: Identifier | None = None
    """None for `extracted`, as are the other fields of a memory."""
    version: int | None = None
    """The memory's version since this event."""
    status: Status | None = None
    """The memory's status since this event."""
    category: Category | None = None
    """The memory's present category."""
    action: str = ""
    """The action that led to this version, as in the memory's history: confirmed, archived..."""
    reason: str = ""
    """The reason given for forgetting; other reasons, in the history, may quote memories."""
    superseded_by: Identifier | None = None
    """The memory that replaces it at present, if it was superseded or merged by this event."""
    agent_id: Identifier | None = None
    run_id: Identifier | None = None
    session_id: Identifier | None = None
    """The session that the memory was drawn from, or whose messages were read."""
    messages: int | None = None
    """Number of messages read; only for `extracted`, as is the next field."""
    facts: int | None = None
    """Number of facts that were drawn from them, known ones included, quarantined ones not."""


class EventPage(list[MemoryEvent]):
    """Events in their order, and where to continue."""

    def __init__(self, events: Iterable[MemoryEvent] = (), next: int = 0) -> None:  # noqa: A002
        super().__init__(events)
        self.next = next
        """To be given as `after`: the page behind this one, or what happens from now on."""
