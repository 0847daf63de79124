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
from semantic_memory.domain.patterns import regex

_REST_OF_NOTE = r"[\w ,.]*"


def _block(line_end: str, character: str) -> re.Pattern[str]:
    """Return a pattern of a context block in any of its templates, even if its end is missing.

    Each memory in a block begins a line with a number; its further lines are indented.
    """
    opening = rf"(?:<memory>|# Memory|Memory)[ \t]*{line_end}[ \t]*{re.escape(NOTE)}{_REST_OF_NOTE}"
    section_or_end, heading = r"</?[a-z]+>", r"#{2,3} [\w-]+|[a-z]+:"
    day, memory_or_rest = r"(?:#{3} |\[)?\d{1,2} [A-Z][a-z]+ \d{4}\]?", rf"\d+\.? {character}*"
    earlier_day = r"\d{4}-\d\d-\d\d:?"  # as versions before wrote it
    left_out = r"--|\.\.\.|\([^()\n]*\)"
    line = "|".join((section_or_end, day, heading, earlier_day, memory_or_rest, left_out))
    further = rf"[ \t]{{2,}}{character}*"
    return regex(rf"{opening}(?:[ \t]*{line_end}(?:[ \t]*(?:{line})|{further}))*")


def _json_block(line_end: str, quote: str, character: str) -> re.Pattern[str]:
    """Return a pattern of a context block that is JSON, even if its end is missing."""
    opening = rf"\{{{quote}note{quote}: {quote}{re.escape(NOTE)}{_REST_OF_NOTE}{quote},"
    sections = rf"[ \t]*{line_end}[ \t]*{quote}sections{quote}: \["
    line = rf"\{{{character}*|\]\}},?|\], {quote}left_out{quote}: \d+|\}}"
    return regex(rf"{opening}(?:{sections})?(?:[ \t]*{line_end}[ \t]*(?:{line}))*")


_ANY = r"[^\r\n]"
_WITHIN_JSON = r"(?:[^\\\r\n\"]|\\[^n])"
_BLOCKS = (
    _block(r"\r?\n", _ANY),
    _json_block(r"\r?\n", '"', _ANY),
    # As tools return them: within JSON.
    _block(r"\\n", _WITHIN_JSON),
    _json_block(r"\\n", r"\\\"", _WITHIN_JSON),
)


def strip_recalled(text: str) -> str:
    """Remove context blocks from `text`; return an empty text if there is nothing else."""
    if NOTE not in text:
        return text
    said = text
    for pattern in _BLOCKS:
        said = pattern.sub("", said)
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
