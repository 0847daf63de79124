"""Reader of Claude's data export: `conversations.json`, a list of conversations."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from ingest.readers.documents import items
from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.domain.blocks import text_of, wrote_memory
from semantic_memory.domain.markers import WROTE_MEMORY

_ROLES = {"human": "user", "assistant": "assistant"}


def read_claude(file: BufferedReader) -> Iterator[Incoming | Rejected]:
    """Read every message with text or a file; a conversation is a session."""
    builder = Builder()
    for number, conversation in enumerate(items(file), start=1):
        place = f"conversation {number}"
        try:
            session_id, messages = conversation["uuid"], list(conversation["chat_messages"])
        except (KeyError, TypeError):
            yield Rejected(place, "is not a conversation with `uuid` and `chat_messages`")
            continue
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
