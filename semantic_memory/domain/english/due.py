"""Read the day that a statement names as due."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY, WEEKDAYS, month_number
from semantic_memory.domain.english.tenses import is_past
from semantic_memory.domain.patterns import regex

_DAY = regex(
    rf"\b(?:on|this|next|by|until|before) (?P<weekday>{WEEKDAY})\b"
    rf"|\b(?P<year>20\d\d)-(?P<mm>\d\d)-(?P<dd>\d\d)\b"
    rf"|\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{ANY_MONTH})\b\.?,?(?: (?P<y>20\d\d))?"
    rf"|\b(?P<before>by|before|until|in)(?: the (?:end|beginning|middle) of)? (?P<m3>{ANY_MONTH})\b"
    r"(?! \d{1,2}\b)(?:,? (?P<y3>20\d\d))?"
    rf"|\b(?P<m2>{ANY_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y2>20\d\d))?",
    re.IGNORECASE,
)


def due_on(content: str, said: date) -> date | None:
    """Return the last day that a fact names as due; None if it names none.

    A day without its year is the next one after `said`, as is a day of the week; a month lasts to
    its end, unless it is due before it.

    >>> due_on("The user has to hand in the report by 5 June", date(2026, 3, 1))
    datetime.date(2026, 6, 5)
    >>> due_on("The user has their driving test on Friday", date(2026, 3, 1))
    datetime.date(2026, 3, 6)
    >>> due_on("The user's lease runs out in July", date(2026, 3, 1))
    datetime.date(2026, 7, 31)
    """
    return max(_days(content, said), default=None)


def _days(content: str, said: date) -> Iterator[date]:
    for found in _DAY.finditer(content):
        if found["weekday"]:
            if not is_past(content.lower()):
                ahead = WEEKDAYS.index(found["weekday"].capitalize()) - said.weekday()
                yield said + timedelta(days=ahead % 7)
            continue
        year = found["year"] or found["y"] or found["y2"] or found["y3"]
        month = found["mm"] or found["m"] or found["m2"] or found["m3"]
        number = int(month) if month.isdigit() else month_number(month)
        day = int(found["dd"] or found["d"] or found["d2"] or 1)
        try:
            named = date(int(year) if year else said.year, number, day)
            if found["m3"] and found["before"].lower() != "before":
                named = named.replace(day=monthrange(named.year, number)[1])
            if not year and named < said - timedelta(days=1):
                named = named.replace(year=named.year + 1)
        except ValueError:
            continue  # 30 February
        yield named
