"""Ask a language model: the prompt's file, and the conversation as data.

The conversation goes in as one JSON document, so no text in it can end what encloses it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from semantic_memory.domain.english.calendar import WEEKDAYS
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message
from semantic_memory.language.own_speech import own_speech_of

VERSION = "v1"
"""Version of the prompt, recorded with every fact. A changed prompt is a new file."""

_TOOL_CHARACTERS = 2_000  # of what a tool printed; it is background only
_CUT = " [...]"
_QUOTED = "[pasted or quoted text left out]"


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"extract-{VERSION}.md"
    return file.read_text(encoding="utf-8")


def spoken(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without those of the system, which nobody said."""
    return [message for message in messages if message.role != "system"]


def document(messages: Sequence[Message], known: Sequence[Fact]) -> str:
    """Return the conversation and the known facts as JSON; messages are numbered from 1."""
    return json.dumps(
        {
            "known": [{"since": _day(fact.valid_from), "fact": fact.content} for fact in known],
            "messages": [_said(number, message) for number, message in enumerate(messages, 1)],
        },
        ensure_ascii=False,
    )


def chat(messages: Sequence[Message], known: Sequence[Fact]) -> list[dict[str, Any]]:
    """Return the messages of the request."""
    return [
        {"role": "system", "content": instructions()},
        {"role": "user", "content": document(messages, known)},
    ]


def _said(number: int, message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"n": number}
    if message.created_at:
        said["at"] = f"{_day(message.created_at)} {message.created_at:%H:%M}"
    said["role"] = message.role
    if message.name:
        said["speaker"] = message.name
    said["text"] = _own(message) if message.role == "user" else message.content
    if message.role == "tool" and len(message.content) > _TOOL_CHARACTERS:
        said["text"] = message.content[:_TOOL_CHARACTERS] + _CUT
    return said


def _own(message: Message) -> str:
    """Return the user's own words, with a mark where pasted or quoted text was."""
    reading = own_speech_of(message)
    if reading.legible == message.content:
        return message.content
    return f"{reading.legible.strip()}\n{_QUOTED}"


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d} ({WEEKDAYS[time.weekday()]})"
