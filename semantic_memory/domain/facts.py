"""Facts, their versions and their sources."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from semantic_memory.domain.messages import Role
from semantic_memory.domain.values import (
    SCHEMA_VERSION,
    Content,
    Identifier,
    Metadata,
    Tag,
    Timestamp,
    Unit,
    Value,
    new_id,
)


class Category(StrEnum):
    """Subject of a memory. The set is closed; each member has its own half-life."""

    PREFERENCE = "preference"
    PERSONAL = "personal"
    FEEDBACK = "feedback"
    PROJECT = "project"
    TECHNICAL = "technical"
    DECISION = "decision"
    FINDING = "finding"
    REFERENCE = "reference"
    CONVERSATION = "conversation"


class Status(StrEnum):
    """State of a memory. Only `active` ones are recalled by default."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


class Source(Value):
    """Origin of a memory."""

    extractor: str = "caller"
    session_id: Identifier | None = None
    message_ids: tuple[Identifier, ...] = ()
    position: int | None = Field(default=None, ge=0)
    """Place of the (first) message in its session, from 0."""
    role: Role | None = None
    speaker: str | None = None


class Fact(Value):
    """One memory: its content with validity, confidence, status and sources."""

    id: Identifier = Field(default_factory=new_id)
    user_id: Identifier
    content: Content
    category: Category
    confidence: Unit = 1.0
    importance: Unit = 0.5
    created_at: Timestamp
    """Time of the statement."""
    recorded_at: Timestamp
    """Time of arrival in this store."""
    valid_from: Timestamp
    valid_to: Timestamp | None = None
    """End of validity; None while the fact is believed."""
    confirmed_at: Timestamp | None = None
    last_used_at: Timestamp | None = None
    use_count: int = Field(default=0, ge=0)
    status: Status = Status.ACTIVE
    superseded_by: Identifier | None = None
    tags: tuple[Tag, ...] = ()
    references: tuple[Identifier, ...] = ()
    source: Source = Source()
    corroborations: tuple[Source, ...] = ()
    """Further sources of the same statement."""
    metadata: Metadata = Field(default_factory=dict)
    version: int = Field(default=1, ge=1)
    schema_version: int = SCHEMA_VERSION

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, the first one first."""
        return (self.source, *self.corroborations)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Ids of the messages of all sources, without repeats, in order."""
        return tuple(dict.fromkeys(m for source in self.sources for m in source.message_ids))


class FactVersion(Value):
    """One state of a fact, with the action that led to it; an entry of `history`."""

    version: int
    at: Timestamp
    action: str
    reason: str
    fact: Fact


class Explanation(Value):
    """Retention of a memory, and the memories it replaced or was replaced by."""

    fact: Fact
    half_life_days: float | None
    """Half-life of its category times its endurance; None for a memory that never fades."""
    retention: float
    """Retention at present, 0.1 to 1."""
    replaced_by: Fact | None
    """The memory that superseded it or absorbed it."""
    replaced: tuple[Fact, ...]
    """Memories that it superseded or absorbed, oldest first."""
