"""Messages and their sessions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StrictBool, StringConstraints

from semantic_memory.domain import fields
from semantic_memory.domain.categories import Category
from semantic_memory.domain.scope import Scoped
from semantic_memory.domain.trust import Trust, of_role
from semantic_memory.domain.values import (
    Content,
    Identifier,
    Metadata,
    Name,
    Real,
    Timestamp,
    Unit,
    Value,
    new_id,
)

Role = Literal["user", "assistant", "system", "tool"]


class SessionKey(NamedTuple):
    """Key of a session: its user and its id."""

    user_id: str
    session_id: str


class Message(Scoped):
    """One message of a conversation, verbatim.

    `id` is unique within its session and random by default; pass the ids of your own system to
    make `observe` idempotent. `name` tells speakers of the same role apart. What is extracted from
    it has its agent and its run.
    """

    id: Identifier = Field(default_factory=new_id)
    role: Role
    content: Content
    name: Name | None = None
    created_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    """The time from which the message and what was extracted from it are in no answer."""
    trust: Trust | None = None
    """Trust in its text, if that is less than in its role: `external` for a mail passed on."""
    recall: StrictBool = Field(True, description=fields.RECALL)
    metadata: Metadata = Field(default_factory=dict)

    def has_expired(self, now: datetime) -> bool:
        """Return True if its own time has come; a period of retention is left aside."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def trusted(self) -> Trust:
        """The trust in its text, at most that of its role."""
        own = of_role(self.role, self.name)
        return own if self.trust is None else min(own, self.trust)

    @property
    def speaker(self) -> str:
        """Name of the speaker, or the role if there is none."""
        return self.name or self.role


class SessionMessage(Message):
    """A message that may name its session, as a line of a JSONL file does."""

    session_id: Identifier | None = Field(None, description=fields.OWN_SESSION)

    @property
    def alone(self) -> Message:
        """The message without the name of its session."""
        values = {name: getattr(self, name) for name in Message.model_fields}
        return Message.model_construct(self.model_fields_set - {"session_id"}, **values)


class Receipt(Value):
    """Acknowledgement of `observe`: the messages are on disk."""

    accepted: int
    duplicates: int
    session_id: str | None = None
    """The session; None if the messages are of several, or none were given."""


Verbosity = Literal["brief", "normal", "detailed"]
Language = Annotated[
    str, StringConstraints(max_length=64, pattern=r"^(?:\w[\w()-]*(?: [\w()-]+){0,2})?$")
]
"""Name of a language, of up to three words, like `Swiss German`; empty for none in particular."""
HalfLife = Annotated[Real, Field(gt=0)]


class SessionOptions(Value):
    """Overrides of a session."""

    extract: bool = True
    """Extract facts from it; its messages are stored and searchable either way."""
    fades: bool = True
    """Let its facts fade; if False, they are pinned."""
    compact: bool = True
    """Shorten its window and its log when they are too long; if False, both stay whole, and a
    prompt that doesn't fit or a message for a full log is refused."""
    half_life_days: Mapping[Category, HalfLife] = Field(default_factory=dict)
    """Half-lives of its memories by category, instead of those of the settings."""
    floor: Unit | None = None
    """Lowest retention of its memories, instead of that of the settings."""
    language: Language = ""
    """Language in which it is answered; part of its system prompt."""
    verbosity: Verbosity = "normal"
    """Length of the answers; part of its system prompt."""


class SessionState(Value):
    """Times of a session that its messages don't tell."""

    created_at: Timestamp | None = None
    """Time at which it was created explicitly."""
    closed_at: Timestamp | None = None
    """Time at which it was closed; None while it takes messages."""
    agent_id: Identifier | None = None
    """The agent for which it was created."""


class SessionInfo(Value):
    """Summary of a session."""

    session_id: str
    created_at: Timestamp
    """Time at which it was created, or its first memory recorded."""
    last_accessed_at: Timestamp
    """Time at which a memory of it was last recorded or put into a prompt."""
    messages: int
    """Number of messages stored, deleted ones excluded."""
    first_at: Timestamp
    """Time of its first message; its creation while it has none."""
    last_at: Timestamp
    by_category: Mapping[str, int]
    """Number of memories that came from it, by category."""
    log_bytes: int
    options: SessionOptions = SessionOptions()
    closed_at: Timestamp | None = None
    """Time at which it was closed; None while it takes messages."""
    deleted: int = 0
    """Number of its memories that were deleted or forgotten."""
    corrupt_lines: int = 0
    """Number of lines of its log that can't be read."""
