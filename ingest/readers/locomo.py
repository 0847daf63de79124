"""LoCoMo's file: conversations of two people over many dated sessions (Maharana et al. 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ingest.readers.values import Builder, Incoming, Rejected

_SESSION = re.compile(r"session_(\d+)")


def is_locomo(document: Any) -> bool:
    """Whether a JSON document looks like a LoCoMo file."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(sample, dict) and "conversation" in sample for sample in document)
    )


def read_locomo(document: Any) -> Iterator[Incoming | Rejected]:
    """Every turn; its user is the sample's id, its id the turn's, its time the session's."""
    if not is_locomo(document):
        yield Rejected("file", "is not a list of samples with a `conversation`")
        return
    for sample in document:
        user_id, conversation = sample.get("sample_id"), sample["conversation"]
        builder = Builder()
        numbers = (int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
        for number in sorted(numbers):
            session_id = f"session_{number}"
            for place, turn in enumerate(conversation[session_id], start=1):
                try:
                    said = said_at(conversation[f"{session_id}_date_time"])
                    message = builder.message(session_id, _values(turn, said))
                    yield Incoming(user_id, session_id, message)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    yield Rejected(f"{user_id} {session_id} turn {place}", str(error))


def said_at(text: str) -> datetime:
    """A session's time, written like "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _values(turn: dict[str, Any], said: datetime) -> dict[str, Any]:
    caption = turn.get("blip_caption")
    content = f"{turn['text']}\n[image: {caption}]" if caption else turn["text"]
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": content,
        "created_at": said,
    }
