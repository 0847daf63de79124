"""Reader of Claude's data export: conversations, and the memories of an account."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from io import BufferedReader
from typing import Any

from ingest.readers.claude_memories import is_memories, read_claude_memories
from ingest.readers.documents import items
from ingest.readers.records import Found, read_each
from ingest.readers.values import Builder, Rejected
from semantic_memory.domain.blocks import text_of, wrote_memory
from semantic_memory.domain.markers import WROTE_MEMORY

_ROLES = {"human": "user", "assistant": "assistant"}


def read_claude(file: BufferedReader, written: datetime) -> Iterator[Found]:
    """Read every message with text or a file, and every line of memories as a fact.

    A conversation is a session. `written` dates memories without a time.
    """
    builder = Builder()

    def one(item: Any, place: str) -> Iterator[Found]:
        if is_memories(item):
            return read_claude_memories(item, place, written)
        return _conversation(item, place, builder)

    return read_each(items(file), "conversation", one)


def _conversation(conversation: Any, place: str, builder: Builder) -> Iterator[Found]:
    try:
        session_id, messages = conversation["uuid"], list(conversation["chat_messages"])
    except (KeyError, TypeError):
        yield Rejected(place, "is not a conversation with `uuid` and `chat_messages`")
        return
    for position, message in enumerate(messages, start=1):
        try:
            if values := _values(message):
                yield builder.incoming(None, session_id, values)
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            yield Rejected(f"{place}, message {position}", str(error))


def _values(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a message; None for one without text, such as tool calls alone."""
    said = text_of(message.get("content")) or message.get("text") or ""
    files = [*(message.get("attachments") or ()), *(message.get("files") or ())]
    names = [f"[document: {file.get('file_name') or 'unnamed'}]" for file in files]
    text = "\n".join(part for part in (said, *names) if part.strip())
    if not text:
        return None
    return {
        "id": message.get("uuid"),
        "role": _ROLES[message["sender"]],
        "content": text,
        "created_at": message.get("created_at"),
        "metadata": {WROTE_MEMORY: True} if wrote_memory(message) else None,
    }
