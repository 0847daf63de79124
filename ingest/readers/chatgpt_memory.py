"""The memories that ChatGPT had saved, as its data export has them.

The export has no list of its own. Conversations hold the list as the model saw it then, a line
each: `1. [2024-05-01]. Lives in Lisbon.` The latest list of an export is read, empty or not:
earlier ones, and the calls by which the model saved each memory, may have what was deleted since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ingest.readers.records import Found, IncomingRecord, stated
from ingest.readers.values import Rejected, moment
from semantic_memory.domain.patterns import regex

_LINE = regex(r"^\s*\d+\.\s*(?:\[(?P<date>[^\]]*)\]\.?\s*)?(?P<text>.*\S)\s*$")


class SavedMemories:
    """Collector of the latest list of saved memories, in all the files of an export.

    `written` dates a list without a time.
    """

    def __init__(self, written: datetime) -> None:
        self._at = datetime.min.replace(tzinfo=UTC)
        self._written = written
        self._list = ""

    def note(self, message: Mapping[str, Any], begun: Any) -> None:
        """Take note of a message, if it has a list; `begun` is when its conversation began.

        Times are in seconds since 1970. Raises what reading a broken message or time does:
        AttributeError, TypeError, ValueError.
        """
        content = message.get("content") or {}
        saved = content.get("model_set_context")
        if content.get("content_type") != "model_editable_context" or not isinstance(saved, str):
            return
        seconds = message.get("create_time") or begun
        at = moment(seconds) if seconds else self._written
        if at >= self._at:
            self._at, self._list = at, saved

    def records(self) -> Iterator[Found]:
        """Yield each memory of the latest list as a fact, dated as it is there."""
        lines = map(_LINE.match, self._list.splitlines())
        for number, found in enumerate(filter(None, lines), start=1):
            place = f"saved memory {number}"
            try:
                statement = stated(
                    system="chatgpt",
                    key=(found["text"],),
                    content=found["text"],
                    created_at=_date(found["date"]) or self._at,
                )
            except ValueError as error:
                yield Rejected(place, str(error))
            else:
                yield IncomingRecord(None, place, statement)


def _date(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError:
        return None
