"""Loop guard: keeps memories that recall put into a conversation from being extracted again.

A context block comes back inside the messages that are observed, and would be extracted as if the
user had said it. The same holds for a turn in which the agent wrote memories with a tool: they are
stored already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.markers import NOTE, WROTE_MEMORY
from semantic_memory.domain.messages import Message


def _block(line_end: str, character: str) -> re.Pattern[str]:
    """Return a pattern of a context block in any of its templates, even if its end is missing.

    Each memory in a block takes one line, which begins with a number and has no angle brackets.
    """
    opening = rf"(?:<memory>|# Memory|Memory)[ \t]*{line_end}[ \t]*{re.escape(NOTE)}"
    section_or_end, heading = r"</?[a-z]+>", r"#{2,3} [\w-]+|[a-z]+:"
    day, memory_or_rest = r"\d{4}-\d\d-\d\d:?", rf"\d+\.? {character}*"
    left_out = r"\.\.\.|\([^()\n]*\)"
    line = "|".join((section_or_end, heading, day, memory_or_rest, left_out))
    return re.compile(rf"{opening}(?:[ \t]*{line_end}[ \t]*(?:{line}))*")


_BLOCK = _block(r"\r?\n", r"[^\r\n]")
# As tools return it: within JSON.
_QUOTED_BLOCK = _block(r"\\n", r"(?:[^\\\r\n\"]|\\[^n])")


def strip_recalled(text: str) -> str:
    """Remove context blocks from `text`; return an empty text if there is nothing else."""
    if NOTE not in text:
        return text
    said = _QUOTED_BLOCK.sub("", _BLOCK.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def without_recalled(message: Message) -> Message | None:
    """Remove context blocks from a message; return None if it has nothing else."""
    said = strip_recalled(message.content)
    if said == message.content:
        return message
    return message.model_copy(update={"content": said}) if said else None


def extractable(messages: Sequence[Message]) -> list[Message]:
    """Return the messages to extract: without context blocks and turns that wrote memories.

    A turn is a user's message with all messages up to the user's next one.
    """
    kept: list[Message] = []
    turn: list[Message] = []
    for message in [*messages, None]:
        if message is None or message.role == "user":
            if not any(item.metadata.get(WROTE_MEMORY) is True for item in turn):
                kept += turn
            turn = []
        if message is not None:
            turn.append(message)
    return [said for message in kept if (said := without_recalled(message)) is not None]
