"""The loop guard: what memory itself put into a conversation is not taken in again.

Recall hands the agent a marked block. It comes back inside the messages that are observed, and
would be believed a second time, as if the user had said it. The same goes for a turn in which the
agent wrote memories with a tool: what it wrote is there already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.markers import NOTE, WROTE_MEMORY
from semantic_memory.domain.messages import Message


def _block(line_end: str, character: str) -> re.Pattern[str]:
    """The lines of a block, in any of its templates, also of one that was cut short on the way.

    What is recalled is on one line each, begins with a number, and holds no angle brackets.
    """
    return re.compile(
        rf"""
        (?:<memory>|\#\ Memory|Memory)[ \t]*{line_end}[ \t]*{re.escape(NOTE)}
        (?:[ \t]*{line_end}[ \t]*(?:
            </?[a-z]+>                                 # a section, and the end
          | \#{{2,3}}\ [\w-]+ | [a-z]+:                 # a section, a day
          | \d{{4}}-\d\d-\d\d:?
          | \d+\.?\ {character}*                       # a memory; how many were left out
          | \.\.\. | \([^()\n]*\)
        ))*
        """,
        re.VERBOSE,
    )


_BLOCK = _block(r"\r?\n", r"[^\r\n]")
# As a tool hands it over: within JSON.
_QUOTED_BLOCK = _block(r"\\n", r"(?:[^\\\r\n\"]|\\[^n])")


def strip_recalled(text: str) -> str:
    """`text` without the blocks that recall rendered; empty if there is nothing else."""
    if NOTE not in text:
        return text
    said = _QUOTED_BLOCK.sub("", _BLOCK.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def without_recalled(message: Message) -> Message | None:
    """The message as it was said; None if it only held what was recalled."""
    said = strip_recalled(message.content)
    if said == message.content:
        return message
    return message.model_copy(update={"content": said}) if said else None


def extractable(messages: Sequence[Message]) -> list[Message]:
    """The messages to read for facts: nothing recalled, no turn in which the agent wrote memories.

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
