"""OpenAI chat messages: a list of them, or an object with a list named `messages`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.errors import InvalidInputError

_ROLES = {"developer": "system", "function": "tool"}


def read_openai_chat(document: Any, session_id: str) -> Iterator[Incoming | Rejected]:
    """The messages that have text; a message of tool calls alone has none and is passed over."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list):
        raise InvalidInputError("expected a list of chat messages, or an object with `messages`")
    builder = Builder()
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict):
            yield Rejected(f"message {number}", "is not an object with role and content")
            continue
        content = _text(message.get("content"))
        if not content and message.get("tool_calls"):
            continue
        role = message.get("role")
        values = {
            "role": _ROLES.get(str(role), role),
            "content": content,
            "name": message.get("name"),
            "created_at": message.get("created_at"),
            "id": message.get("id"),
        }
        try:
            yield Incoming(None, session_id, builder.message(session_id, values))
        except ValueError as error:
            yield Rejected(f"message {number}", str(error))


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
