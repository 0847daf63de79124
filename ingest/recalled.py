"""Keep recalled text out of extraction, so that no memory is believed a second time.

Recall hands the agent a marked block. It comes back inside the messages that are observed, as if
the user had said it. The same goes for a turn in which the agent wrote memories with a tool: they
are there already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.markers import NOTE, WROTE_MEMORY
from semantic_memory.domain.messages import Message


def _block(line_end: str, character: str) -> re.Pattern[str]:
    """Return a pattern for a block in any template, also for one that was cut short on the way.

    Each memory is on one line, begins with a number, and holds no angle brackets.
    """
    opening = rf"(?:<memory>|# Memory|Memory)[ \t]*{line_end}[ \t]*{re.escape(NOTE)}"
    section_or_end, heading = r"</?[a-z]+>", r"#{2,3} [\w-]+|[a-z]+:"
    day, memory_or_rest = r"\d{4}-\d\d-\d\d:?", rf"\d+\.? {character}*"
    left_out = r"\.\.\.|\([^()\n]*\)"
    line = "|".join((section_or_end, heading, day, memory_or_rest, left_out))
    return re.compile(rf"{opening}(?:[ \t]*{line_end}[ \t]*(?:{line}))*")


_BLOCK = _block(r"\r?\n", r"[^\r\n]")
# As a tool hands it over: within JSON.
_QUOTED_BLOCK = _block(r"\\n", r"(?:[^\\\r\n\"]|\\[^n])")


def strip_recalled(text: str) -> str:
    """Return `text` without the blocks that recall rendered; empty if there is nothing else."""
    if NOTE not in text:
        return text
    said = _QUOTED_BLOCK.sub("", _BLOCK.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def without_recalled(message: Message) -> Message | None:
    """Return the message as it was said; None if it only held recalled text."""
    said = strip_recalled(message.content)
    if said == message.content:
        return message
    return message.model_copy(update={"content": said}) if said else None


def extractable(messages: Sequence[Message]) -> list[Message]:
    """Return the messages to extract from, without recalled text and turns that wrote memories.

    A turn is a user's message and all that follows it up to the next one.
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
