"""Name months, weekdays and units of time."""

from __future__ import annotations

from datetime import date

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import listed, phrases, words

MONTHS = listed("calendar.months")
"""January to December."""
WEEKDAYS = listed("calendar.weekdays")
"""Monday to Sunday."""
SHORT_MONTHS = words("calendar.short_months")

# Sources of patterns, for folded texts or re.IGNORECASE.
MONTH = one_of(month.lower() for month in MONTHS)
SHORT_MONTH = one_of(SHORT_MONTHS)
ANY_MONTH = one_of((*(month.lower() for month in MONTHS), *SHORT_MONTHS))
WEEKDAY = one_of(day.lower() for day in WEEKDAYS)
UNIT = phrases("calendar.units")
SMALL_NUMBER = one_of(words("numbers.small"))


def written(day: date) -> str:
    """Return a date as it stands in a fact, whatever the locale.

    >>> written(date(2026, 1, 9))
    '9 January 2026'
    """
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def month_number(name: str) -> int:
    """Return the number of a month, 1 to 12; its first three letters are enough.

    >>> month_number("June"), month_number("sept")
    (6, 9)
    """
    return [month[:3].lower() for month in MONTHS].index(name[:3].lower()) + 1
