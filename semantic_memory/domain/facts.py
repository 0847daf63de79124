"""Facts: what is believed, since when, how firmly, and why."""

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
    """What a memory is about. The set is closed; each member has its own half-life."""

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
    """Where a memory stands. Only `active` ones are recalled without asking for more."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


class Source(Value):
    """Where a memory came from."""

    extractor: str = "caller"
    session_id: Identifier | None = None
    message_ids: tuple[Identifier, ...] = ()
    position: int | None = Field(default=None, ge=0)
    """Place of the (first) message in its session, from 0."""
    role: Role | None = None
    speaker: str | None = None


class Fact(Value):
    """One memory: what is believed, since when, how firmly, and why."""

    id: Identifier = Field(default_factory=new_id)
    user_id: Identifier
    content: Content
    category: Category
    confidence: Unit = 1.0
    importance: Unit = 0.5
    created_at: Timestamp
    """When it was said."""
    recorded_at: Timestamp
    """When it reached this store."""
    valid_from: Timestamp
    valid_to: Timestamp | None = None
    """When it stopped being believed; None while it still is."""
    confirmed_at: Timestamp | None = None
    last_used_at: Timestamp | None = None
    use_count: int = Field(default=0, ge=0)
    status: Status = Status.ACTIVE
    superseded_by: Identifier | None = None
    tags: tuple[Tag, ...] = ()
    references: tuple[Identifier, ...] = ()
    source: Source = Source()
    corroborations: tuple[Source, ...] = ()
    """Further places where the same was said."""
    metadata: Metadata = Field(default_factory=dict)
    version: int = Field(default=1, ge=1)
    schema_version: int = SCHEMA_VERSION

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every place where this was said, the first one first."""
        return (self.source, *self.corroborations)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Every message that says this, the first source's first."""
        return tuple(dict.fromkeys(m for source in self.sources for m in source.message_ids))


class FactVersion(Value):
    """One step in the life of a fact, as `history` tells it."""

    version: int
    at: Timestamp
    action: str
    reason: str
    fact: Fact


class Explanation(Value):
    """How firmly a memory still stands, and what took whose place."""

    fact: Fact
    half_life_days: float | None
    """Its category's, stretched by use and confirmation; None for what never fades."""
    retention: float
    """What time has left of it, 0.1 to 1."""
    replaced_by: Fact | None
    """What superseded it or was merged with it."""
    replaced: tuple[Fact, ...]
    """What it superseded or took in, oldest first."""
