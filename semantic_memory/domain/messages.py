"""Messages, and the sessions they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import Field

from semantic_memory.domain.values import (
    Content,
    Identifier,
    Metadata,
    Name,
    Timestamp,
    Value,
    new_id,
)

Role = Literal["user", "assistant", "system", "tool"]


class SessionKey(NamedTuple):
    """A user's session."""

    user_id: str
    session_id: str


class Message(Value):
    """One message of a conversation, as it was said.

    `id` is unique within its session; left out, it is drawn at random. Giving the ids of your own
    system makes observing idempotent. `name` is the speaker where a role isn't enough.
    """

    id: Identifier = Field(default_factory=new_id)
    role: Role
    content: Content
    name: Name | None = None
    created_at: Timestamp | None = None
    metadata: Metadata = Field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """The speaker's name, or the role where there is none."""
        return self.name or self.role


class Receipt(Value):
    """What `observe` acknowledges: these messages are on disk."""

    accepted: int
    duplicates: int
    session_id: str


class SessionOptions(Value):
    """What is done with a session otherwise than with others."""

    extract: bool = True
    """Whether it is read for facts; its messages are kept and found either way."""
    fades: bool = True
    """Whether its facts fade; those of a session that doesn't are pinned."""


class SessionInfo(Value):
    """What is known of a session."""

    session_id: str
    created_at: Timestamp
    """When its first memory was recorded."""
    last_accessed_at: Timestamp
    """When something of it was recorded, or put into a prompt, for the last time."""
    messages: int
    """Messages that are remembered; deleted ones aside."""
    first_at: Timestamp
    last_at: Timestamp
    by_category: Mapping[str, int]
    """Memories that came from it, by category."""
    log_bytes: int
    options: SessionOptions = SessionOptions()
