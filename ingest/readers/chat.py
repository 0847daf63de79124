"""Reader of chat messages of OpenAI's and Anthropic's APIs: a list, or an object's `messages`.

What they say is read as `observe` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader

from ingest.readers.documents import items
from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.domain.chat import Chat


def read_chat(file: BufferedReader, session_id: str) -> Iterator[Incoming | Rejected]:
    """Read the messages that have text."""
    builder, chat = Builder(), Chat()
    for number, message in enumerate(items(file, "messages"), start=1):
        if not isinstance(message, dict):
            yield Rejected(f"message {number}", "is not an object with role and content")
            continue
        for values in chat.read(message):
            try:
                yield builder.incoming(None, session_id, values)
            except ValueError as error:
                yield Rejected(f"message {number}", str(error))
