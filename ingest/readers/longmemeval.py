"""Reader of LongMemEval: questions, each with its chat sessions (Wu et al. 2024)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BufferedReader
from typing import Any

from ingest.readers.documents import items
from ingest.readers.values import Builder, Incoming, Rejected


def read_longmemeval(file: BufferedReader) -> Iterator[Incoming | Rejected]:
    """Read every turn, sessions in the order of their dates, with the question's id as user.

    A session id that repeats within a question gets the suffix `-2`, `-3`, ...
    """
    for number, entry in enumerate(items(file), start=1):
        try:
            user_id, sessions = entry["question_id"], _sessions(entry)
        except (ValueError, KeyError, TypeError) as error:
            yield Rejected(f"question {number}", f"has no sessions with ids and dates: {error}")
            continue
        builder = Builder()
        for said, session_id, turns in sessions:
            for place, turn in enumerate(turns, start=1):
                try:
                    values = {
                        "role": turn["role"],
                        "content": turn["content"],
                        "created_at": said,
                    }
                    yield builder.incoming(user_id, session_id, values)
                except (ValueError, KeyError, TypeError) as error:
                    yield Rejected(f"{user_id} {session_id} turn {place}", str(error))


def _sessions(entry: dict[str, Any]) -> list[tuple[datetime, str, list[Any]]]:
    seen: Counter[str] = Counter()
    sessions = []
    for session_id, date, turns in zip(
        entry["haystack_session_ids"],
        entry["haystack_dates"],
        entry["haystack_sessions"],
        strict=True,
    ):
        seen[session_id] += 1
        again = f"-{seen[session_id]}" if seen[session_id] > 1 else ""
        sessions.append((said_at(date), f"{session_id}{again}", list(turns)))
    return sorted(sessions, key=lambda session: session[0])


def said_at(text: str) -> datetime:
    """Parse a session's time, written like "2023/05/20 (Sat) 02:21"."""
    plain = re.sub(r"\(\w+\)", "", text)
    return datetime.strptime(" ".join(plain.split()), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
