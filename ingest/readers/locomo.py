"""Reader of LoCoMo: two people talking over many dated sessions (Maharana et al. 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import BufferedReader
from typing import Any

from ingest.readers.documents import items
from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.domain.patterns import regex

_SESSION = regex(r"session_\d+", re.ASCII)


def read_locomo(file: BufferedReader) -> Iterator[Incoming | Rejected]:
    """Read every turn, with the sample's id as its user and the session's time as its own."""
    return locomo_turns(items(file))


def locomo_turns(samples: Iterable[Any]) -> Iterator[Incoming | Rejected]:
    """Yield the turns of samples that are loaded already, as `read_locomo` does."""
    for place, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            yield Rejected(f"sample {place}", "has no `conversation`")
            continue
        user_id, conversation = sample.get("sample_id"), sample["conversation"]
        builder = Builder()
        for session_id, turns in numbered_sessions(conversation):
            for turn_place, turn in enumerate(turns, start=1):
                try:
                    said = said_at(conversation[f"{session_id}_date_time"])
                    yield builder.incoming(user_id, session_id, _values(turn, said))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    yield Rejected(f"{user_id} {session_id} turn {turn_place}", str(error))


def numbered_sessions(conversation: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the key and the turns of each session, in order."""
    keys = [key for key in conversation if _SESSION.fullmatch(key)]
    for key in sorted(keys, key=lambda key: int(key.removeprefix("session_"))):
        turns = conversation[key]
        yield key, turns if isinstance(turns, list) else [turns]


def said_at(text: str) -> datetime:
    """Parse a session's time, written like "1:56 pm on 8 May, 2023"."""
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
