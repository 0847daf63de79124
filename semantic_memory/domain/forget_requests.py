"""Requests to forget that users made in a conversation, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semantic_memory.domain.values import Identifier, Timestamp, Value

RequestScope = Literal["subject", "this", "previous", "everything"]
"""`this` message, it and the `previous` one of the user, everything, or a subject."""
RequestState = Literal["pending", "confirmed", "done", "declined"]
"""A `confirmed` request is about to be done."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to forget, as a message makes it."""

    scope: RequestScope
    subject: str = ""
    """Words that name it, for the scope `subject`."""


class RequestToForget(Value):
    """A user's request to forget something, which changes nothing until it is settled."""

    id: Identifier
    session_id: Identifier
    message_id: Identifier
    scope: RequestScope
    subject: str
    """As `forget(query=...)` takes it; empty for other scopes, and once the request is settled."""
    asked_at: Timestamp
    state: RequestState = "pending"
    settled_at: Timestamp | None = None
