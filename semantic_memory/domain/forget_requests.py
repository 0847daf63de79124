"""Requests to forget that users made in a conversation, and what became of them."""

from __future__ import annotations

from typing import Literal

from semantic_memory.domain.values import Identifier, Timestamp, Value

RequestState = Literal["pending", "done", "declined"]


class RequestToForget(Value):
    """A user's request to forget a subject, or everything."""

    id: Identifier
    session_id: Identifier
    message_id: Identifier
    scope: Literal["subject", "everything"]
    subject: str
    """As `forget(query=...)` takes it; empty for everything, and once the request is settled."""
    asked_at: Timestamp
    state: RequestState = "pending"
    settled_at: Timestamp | None = None
