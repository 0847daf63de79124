"""Find dates and times in a folded text."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_ISO = r"\b(\d{4}-\d\d(?:-\d\d)?)\b"
_DAY_BEFORE = r"\d(?:st|nd|rd|th)?\s+(?:of\s+)?"
_CALENDAR = regex(
    any_of(
        _ISO,
        rf"\b{phrases('calendar.before_date')}\s+({ANY_MONTH})\b",
        rf"\b({ANY_MONTH})\.?\s+\d",
        rf"{_DAY_BEFORE}({ANY_MONTH})\b",
        rf"\b({WEEKDAY}s?)\b",
    )
)
_DAY = regex(
    rf"\b({ANY_MONTH})\.?\s+(\d{{1,2}})\b|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({ANY_MONTH})\b"
)
_SPAN = rf"(?:last|next|this|past)\s+(?:{phrases('calendar.relative_spans')}|[a-z]+day)"
_AGO = r"(?:a|\d+|few)\s+(?:minute|hour|day|week|month|year)s?\s+ago"
_RELATIVE = regex(rf"\b(?:{phrases('calendar.relative')}|{_SPAN}|{_AGO})\b")


def calendar_dates(folded: str) -> Iterator[str]:
    """Yield the months, weekdays and ISO dates of a folded text, months with their day if given.

    >>> list(calendar_dates("on friday, 5 may"))
    ['fri', 'may', 'may 5']
    >>> list(calendar_dates("she may come on 2026-01-09"))
    ['2026-01-09']
    """
    for found in _CALENDAR.finditer(folded):
        named = next(filter(None, found.groups()))
        yield named if named[0].isdigit() else named[:3]
    for found in _DAY.finditer(folded):
        yield f"{(found[1] or found[4])[:3]} {found[2] or found[3]}"


def relative_times(folded: str) -> list[str]:
    """Return the times of a folded text that depend on the day of speaking.

    >>> relative_times("it rained yesterday, two days ago and last monday")
    ['yesterday', 'last monday']
    """
    return _RELATIVE.findall(folded)
