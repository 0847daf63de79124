"""Reader of RealTalk: chats of two people over many sessions (Lee et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BufferedReader
from typing import Any

from ingest.readers.documents import items
from ingest.readers.locomo import numbered_sessions
from ingest.readers.values import Builder, Incoming, Rejected


def read_realtalk(file: BufferedReader) -> Iterator[Incoming | Rejected]:
    """Read every message of a chat or a list of chats; its user is the chat's `sample_id`."""
    for place, chat in enumerate(items(file), start=1):
        if not isinstance(chat, dict):
            yield Rejected(f"chat {place}", "is not an object with numbered sessions")
            continue
        user_id = chat.get("sample_id")
        builder = Builder()
        for session_id, turns in numbered_sessions(chat):
            for turn_place, turn in enumerate(turns, start=1):
                try:
                    yield builder.incoming(user_id, session_id, _values(turn))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    yield Rejected(f"chat {place} {session_id} turn {turn_place}", str(error))


def _values(turn: dict[str, Any]) -> dict[str, Any]:
    images = ["[image]"] * len(turn.get("img_file") or ())
    said = datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC)
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": "\n".join([text for text in [turn["clean_text"]] if text.strip()] + images),
        "created_at": said,
    }
