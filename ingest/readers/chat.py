"""Reader of chat messages of OpenAI's and Anthropic's APIs: a list, or an object's `messages`.

Tool results become messages of role `tool`. A message of tool calls alone has no text and is
skipped; if it calls a tool that writes memories, the next message is marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from ingest.readers.blocks import text_of, tool_results, wrote_memory
from ingest.readers.documents import items
from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.domain.markers import WROTE_MEMORY

_ROLES = {"developer": "system", "function": "tool"}


def read_chat(file: BufferedReader, session_id: str) -> Iterator[Incoming | Rejected]:
    """Read the messages that have text."""
    builder = Builder()
    marked = False
    for number, message in enumerate(items(file, "messages"), start=1):
        if not isinstance(message, dict):
            yield Rejected(f"message {number}", "is not an object with role and content")
            continue
        marked = wrote_memory(message) or (marked and message.get("role") != "user")
        for values in _parts(message):
            if marked:
                values["metadata"] = {WROTE_MEMORY: True}
            marked = False
            try:
                yield builder.incoming(None, session_id, values)
            except ValueError as error:
                yield Rejected(f"message {number}", str(error))


def _parts(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages made of one: its tool results, then its text."""
    content, message_id = message.get("content"), message.get("id")
    role = _ROLES.get(str(message.get("role")), message.get("role"))
    results = list(tool_results(content))
    for place, result in enumerate(results, start=1):
        if result.strip():
            own_id = None if message_id is None else f"{message_id}:{place}"
            yield {
                "role": "tool",
                "content": result,
                "created_at": message.get("created_at"),
                "id": own_id,
            }
    text = text_of(content)
    silent = results or message.get("tool_calls") or isinstance(content, list)
    if text.strip() or not silent:
        yield {
            "role": role,
            "content": text,
            "name": message.get("name"),
            "created_at": message.get("created_at"),
            "id": message_id,
        }
