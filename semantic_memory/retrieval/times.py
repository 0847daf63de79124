"""Read time expressions in a question as windows over the times at which facts were said.

The expressions are found here and resolved by `dateparser`. People remember dates
roughly, and talk about things some time after they happened, so a window has soft edges: inside it
counts in full, outside by a Gaussian of the distance.

English only; other questions have no windows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semantic_memory.domain.decay import DAY
from semantic_memory.domain.english.calendar import (
    MONTHS,
    SHORT_MONTHS,
    SMALL_NUMBER,
    UNIT,
    WEEKDAY,
)
from semantic_memory.domain.english.notation import any_of, one_of
from semantic_memory.domain.english.tables import phrases

_MONTH = one_of((*(month.lower() for month in MONTHS), *(f"{month}[.]" for month in SHORT_MONTHS)))
_NUMBER = rf"(?:\d{{1,3}}|{phrases('calendar.counts', 'calendar.rough_counts')}|{SMALL_NUMBER})"
_UNIT = rf"(?:{UNIT}|weekend)"
_ORDINAL = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_EARLY = r"(?:(?:early|late|mid)[ -])?"

_DATES = (
    r"\d{4}-\d\d-\d\d",
    rf"{_ORDINAL}(?: of)? {_MONTH}(?:,? {_YEAR})?",
    rf"{_MONTH} {_ORDINAL}(?!\d)(?:,? {_YEAR})?",
    rf"{_MONTH},? (?:of )?{_YEAR}",
)
# "since May" needs no "in" before its month
_BEFORE_MONTH = rf"(?(relation)|(?:{phrases('calendar.asked_before_month')}|(?P<last>last))[ -])"
_BEFORE_YEAR = rf"(?(relation)|{phrases('calendar.asked_before_year')} )"
_BEFORE_WEEKDAY = rf"(?:{phrases('calendar.asked_before_weekday')} )?"
_KINDS = {
    "ago": rf"(?P<ago>{_NUMBER} {_UNIT}s? (?:ago|earlier|back))",
    "recent": rf"(?P<recent>(?:past|last|previous) {_NUMBER} {_UNIT}s?|past {_UNIT})",
    "period": rf"(?P<period>(?:last|previous|this) {_UNIT})",
    "day": rf"(?P<day>{phrases('calendar.asked_days')}|{_BEFORE_WEEKDAY}{WEEKDAY})",
    "date": f"(?P<date>{any_of(*_DATES)})",
    "month": rf"{_BEFORE_MONTH}(?:the )?{_EARLY}(?P<month>{_MONTH}(?:,? (?:of )?{_YEAR})?)",
    "year": rf"{_BEFORE_YEAR}(?P<year>{_YEAR})",
}
_RELATION = r"(?:\b(?P<relation>since|after|before|until) (?:the )?)?"
_EXPRESSION = re.compile(
    rf"(?<!\bnext )(?<!\bevery )(?<!\beach ){_RELATION}\b{any_of(*_KINDS.values())}\b",
    re.IGNORECASE,
)
_COUNTS = {"couple": "two", "few": "three", "several": "four"}
_WEEKEND_DAYS = 2


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in Unix seconds, with soft edges (one sigma, in seconds)."""

    start: float
    end: float
    softness: float

    def weight(self, moments: ArrayLike) -> NDArray[np.float64]:
        """Return 1 for moments inside, falling to 0 with the distance outside."""
        then = np.asarray(moments, dtype=np.float64)
        distance = np.maximum(0.0, np.maximum(self.start - then, then - self.end))
        weight: NDArray[np.float64] = np.exp(-0.5 * (distance / self.softness) ** 2)
        return weight


def windows(question: str, now: datetime) -> list[Window]:
    """Return the stretches of time in `question`, asked at `now`."""
    found = []
    for match in _EXPRESSION.finditer(question):
        kind = next(kind for kind in _KINDS if match[kind])
        window = _window(kind, match[kind].casefold(), now)
        if window is None:
            continue
        if match["last"] and window.start <= now.timestamp() < window.end:
            window = _window(kind, match[kind].casefold(), now - timedelta(days=365))
        if window is not None:
            found.append(_related(match["relation"], window, now.timestamp()))
    return found


def closeness(windows: Sequence[Window], moments: ArrayLike) -> NDArray[np.float64]:
    """Return how well each moment fits any of `windows`, in [0, 1]; 0 where there are none."""
    best = np.zeros(np.shape(moments))
    for window in windows:
        best = np.maximum(best, window.weight(moments))
    return best


def _related(relation: str | None, window: Window, now: float) -> Window:
    match (relation or "").casefold():
        case "since":
            return Window(window.start, max(now, window.end), window.softness)
        case "after":
            return Window(window.end, max(now, window.end), window.softness)
        case "before":
            return Window(-np.inf, window.start, window.softness)
        case "until":
            return Window(-np.inf, window.end, window.softness)
        case _:
            return window


def _window(kind: str, phrase: str, now: datetime) -> Window | None:
    match kind:
        case "ago":
            return _ago(phrase, now)
        case "recent":
            return _recent(phrase, now)
        case "period":
            which, unit = phrase.split()
            return _period(which, unit, now)
        case "day":
            return _calendar(phrase.replace("this past ", "last ").replace("past ", "last "), now)
        case _:
            return _calendar(phrase, now)


def _ago(phrase: str, now: datetime) -> Window | None:
    """Resolve "two months ago": about that long, the less exact the longer."""
    *count, unit, _ = phrase.split()
    if unit.startswith("weekend"):
        unit = "week"
    parsed = _parse(f"{_count(count)} {unit} ago", now)
    if parsed is None:
        return None
    moment, precision = parsed
    around, softness = {
        "day": (0.6, 1.0),
        "week": (2.0, 2.0),
        "month": (8.0, 10.0),
        "year": (45.0, 45.0),
    }[precision]
    centre = moment.timestamp()
    return Window(centre - around * DAY, centre + around * DAY, softness * DAY)


def _recent(phrase: str, now: datetime) -> Window | None:
    """Resolve "the past two weeks": from then until now."""
    _, *count, unit = phrase.split()
    parsed = _parse(f"{_count(count) if count else 'one'} {unit} ago", now)
    if unit.startswith("weekend"):
        return _period("last", "weekend", now)
    if parsed is None:
        return None
    start, end = parsed[0].timestamp(), now.timestamp()
    return Window(start, end, max(DAY, (end - start) / 7))


def _period(which: str, unit: str, now: datetime) -> Window | None:
    """Resolve "last month", "this week": by the calendar."""
    shift = 0 if which == "this" else 1
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "day":
            start, end = today - timedelta(days=shift), today - timedelta(days=shift - 1)
        case "week":
            start = today - timedelta(days=today.weekday() + 7 * shift)
            end = start + timedelta(days=7)
        case "weekend":
            monday = today - timedelta(days=today.weekday())
            start = monday - timedelta(days=_WEEKEND_DAYS)
            end = monday
        case "month":
            end = _month_start(today, 1 - shift)
            start = _month_start(today, -shift)
        case _:
            start = today.replace(month=1, day=1, year=today.year - shift)
            end = start.replace(year=start.year + 1)
    return _between(start, end)


def _calendar(phrase: str, now: datetime) -> Window | None:
    """Resolve "5 March", "May 2023", "yesterday": the whole day, month or year."""
    parsed = _parse(phrase, now)
    if parsed is None:
        return None
    moment, precision = parsed
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match precision:
        case "year":
            start = day.replace(month=1, day=1)
            return _between(start, start.replace(year=start.year + 1))
        case "month":
            return _between(_month_start(day, 0), _month_start(day, 1))
        case _:
            return _between(day, day + timedelta(days=1))


def _between(start: datetime, end: datetime) -> Window:
    length = (end - start).total_seconds()
    return Window(start.timestamp(), end.timestamp(), max(DAY, length / 7))


def _month_start(day: datetime, later: int) -> datetime:
    months = day.year * 12 + day.month - 1 + later
    return day.replace(year=months // 12, month=months % 12 + 1, day=1)


def _count(words: Sequence[str]) -> str:
    return next((_COUNTS[word] for word in words if word in _COUNTS), words[-1])


def _parse(phrase: str, now: datetime) -> tuple[datetime, str] | None:
    """Return the moment that `phrase` means, and whether it names a day, week, month or year."""
    # To the hour: "last week" is asked again and again, and takes a millisecond to parse.
    return _parse_at(phrase, now.replace(minute=0, second=0, microsecond=0))


@lru_cache(maxsize=1_024)
def _parse_at(phrase: str, now: datetime) -> tuple[datetime, str] | None:
    from dateparser.date import DateDataParser  # 16 MB, and few questions speak of time

    settings = {
        "RELATIVE_BASE": now.astimezone(UTC).replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "DEFAULT_LANGUAGES": ["en"],
    }
    try:
        found = DateDataParser(languages=["en"], settings=settings).get_date_data(phrase)
    except (ValueError, OverflowError):  # beyond the years that a datetime knows
        return None
    if found.date_obj is None:
        return None
    return found.date_obj.replace(tzinfo=UTC), found.period
