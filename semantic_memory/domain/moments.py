"""Times in filters: a moment, or words that are resolved against a clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from semantic_memory.domain.values import Timestamp

_EXAMPLES = "2026-05-10, 2026-05-10T12:00Z, yesterday, last week, March 2026, 3 days ago"
_REFERENCE = datetime(2026, 5, 10, 12, tzinfo=UTC)  # any moment shows whether words name a time
_LONGEST = 64
_TIMESTAMP: TypeAdapter[datetime] = TypeAdapter(Timestamp)


def resolved(moment: datetime | str, now: datetime) -> datetime:
    """Return a moment, or the beginning of the time that words name at `now`."""
    if isinstance(moment, datetime):
        return moment
    from semantic_memory.domain.english.windows import beginning

    found = beginning(moment, now)
    return now if found is None else found


def bounds(span: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the beginning and the end of the time that words name at `now`; None if open."""
    from semantic_memory.domain.english.windows import named

    window = named(span, now)
    if window is None:
        return now, now
    start, end = (
        None if math.isinf(one) else datetime.fromtimestamp(one, UTC)
        for one in (window.start, window.end)
    )
    return start, end


def _moment(given: object) -> object:
    if isinstance(given, str) and not (given[:4].isdigit() and given[4:5] == "-"):
        from semantic_memory.domain.english.windows import beginning  # loads a large parser

        return _naming(given, beginning)
    try:
        return _TIMESTAMP.validate_python(given)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise ValueError(f"{reason}: write {_EXAMPLES}") from None


def _span(given: str) -> str:
    from semantic_memory.domain.english.windows import named

    return _naming(given, named)


def _naming(given: str, resolve: Callable[[str, datetime], Any]) -> str:
    try:
        known = len(given) <= _LONGEST and resolve(given, _REFERENCE) is not None
    except (ValueError, OverflowError):  # beyond the years that a datetime knows
        known = False
    if not known:
        raise ValueError(f"names no time that has begun: write {_EXAMPLES}")
    return given


Moment = Annotated[datetime | str, BeforeValidator(_moment)]
"""A moment, or words for one: "last month" is its beginning."""
Span = Annotated[str, Field(max_length=_LONGEST), AfterValidator(_span)]
"""Words for a stretch of time: "last week", "since March"."""
