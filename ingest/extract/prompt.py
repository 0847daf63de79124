"""Ask a language model: the prompt's file, and the conversation as data.

The conversation goes in as one JSON document, so no text in it can end what encloses it. The
instructions come first and are the same for every request, so that a provider's cache holds them.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from semantic_memory.domain.english.calendar import WEEKDAYS
from semantic_memory.domain.extraction import Conversation
from semantic_memory.domain.messages import Message
from semantic_memory.language.labels import NOTES
from semantic_memory.language.own_speech import own_speech_of

VERSION = "v2"
"""Version of the prompt, recorded with every fact. A changed prompt is a new file."""

_TOOL_CHARACTERS = 2_000  # of what a tool printed; it is background only
_BEFORE_CHARACTERS = 400  # of a message for reference
_SHORT = 300  # characters of a quotation in a line, which is shown
_CUT = " [...]"
_QUOTED = "[pasted or quoted text left out]"


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"extract-{VERSION}.md"
    return file.read_text(encoding="utf-8")


def document(conversation: Conversation) -> str:
    """Return a conversation as JSON; known facts and messages are numbered from 1."""
    return json.dumps(
        {
            "profile": dict(conversation.profile),
            "known": [
                {"id": number, "since": f"{fact.valid_from:%Y-%m-%d}", "fact": fact.content}
                for number, fact in enumerate(conversation.known, 1)
            ],
            "before": [_shown(message, _BEFORE_CHARACTERS) for message in conversation.before],
            "messages": [
                {"n": number, **_shown(message)}
                for number, message in enumerate(conversation.messages, 1)
            ],
        },
        ensure_ascii=False,
    )


def _shown(message: Message, most: int | None = None) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if message.created_at:
        shown["at"] = _time(message.created_at)
    shown["role"] = message.role
    if message.name:
        shown["speaker"] = message.name
    text = own_text(message)
    most = _TOOL_CHARACTERS if most is None and message.role == "tool" else most
    shown["text"] = text[:most] + _CUT if most is not None and len(text) > most else text
    return shown


def own_text(message: Message) -> str:
    """Return what a message says, with a mark where its author pasted or quoted a long text.

    A short one stays: a model reads whose words they are better than a rule, and what is drawn from
    them has little trust in any case.
    """
    if message.role != "user":
        return message.content
    text = message.content
    for span in reversed(own_speech_of(message).spans):
        part = text[span.start : span.end]
        is_long = len(part) > _SHORT or "\n" in part.strip()
        if is_long and span.reason not in (None, NOTES):
            text = f"{text[: span.start].strip()}\n{_QUOTED}\n{text[span.end :].strip()}"
    return text.strip()


def _time(time: datetime) -> str:
    return f"{WEEKDAYS[time.weekday()][:3].title()} {time:%Y-%m-%d %H:%M}"
