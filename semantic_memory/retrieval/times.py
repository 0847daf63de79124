"""Time expressions in a question, as windows over the times of messages.

This module finds the expressions, `dateparser` interprets them. People remember dates roughly, and
talk about events some time later, so a window has soft edges: its weight is 1 inside and falls
outside by a Gaussian of the distance.

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

_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan\\.?|feb\\.?|mar\\.?|apr\\.?|jun\\.?|jul\\.?|aug\\.?|sept?\\.?|oct\\.?|nov\\.?|dec\\.?"
)
_NUMBER = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\ )?couple(?:\ of)?|(?:a\ )?few|several"
)
_UNIT = "day|week|weekend|month|year"
_ORDINAL = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"

_EXPRESSION = re.compile(
    rf"""
    (?<!\bnext\ ) (?<!\bevery\ ) (?<!\beach\ )
    (?:\b(?P<relation>since|after|before|until)\ (?:the\ )?)?
    \b(?:
        (?P<ago>(?:{_NUMBER})\ (?:{_UNIT})s?\ (?:ago|earlier|back))
      | (?P<recent>(?:past|last|previous)\ (?:{_NUMBER})\ (?:{_UNIT})s?|past\ (?:{_UNIT}))
      | (?P<period>(?:last|previous|this)\ (?:{_UNIT}))
      | (?P<day>(?:the\ day\ before\ )?yesterday|today|tonight|last\ night
            |this\ (?:morning|afternoon|evening)|(?:(?:last|this|this\ past|past)\ )?(?:{_DAYS}))
      | (?P<date>\d{{4}}-\d\d-\d\d
            |{_ORDINAL}(?:\ of)?\ (?:{_MONTHS})(?:,?\ {_YEAR})?
            |(?:{_MONTHS})\ {_ORDINAL}(?!\d)(?:,?\ {_YEAR})?
            |(?:{_MONTHS}),?\ (?:of\ )?{_YEAR})
      | (?(relation)|(?:in|during|of|this|by|from|and|between|early|late|mid|(?P<last>last))[\ -])
            (?:the\ )?(?:(?:early|late|mid)[\ -])?
            (?P<month>(?:{_MONTHS})(?:,?\ (?:of\ )?{_YEAR})?)
      | (?(relation)|(?:in|during|of|by|from|and|between)\ )(?P<year>{_YEAR})
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_KINDS = ("ago", "recent", "period", "day", "date", "month", "year")
_COUNTS = {"couple": "two", "few": "three", "several": "four"}
_WEEKEND_DAYS = 2


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, in Unix seconds, and the softness of its edges (sigma, in seconds)."""

    start: float
    end: float
    softness: float

    def weight(self, moments: ArrayLike) -> NDArray[np.float64]:
        """Return the weight of each moment: 1 inside, falling to 0 with the distance outside."""
        then = np.asarray(moments, dtype=np.float64)
        distance = np.maximum(0.0, np.maximum(self.start - then, then - self.end))
        weight: NDArray[np.float64] = np.exp(-0.5 * (distance / self.softness) ** 2)
        return weight


def windows(question: str, now: datetime) -> list[Window]:
    """Return the stretches of time that `question`, asked at `now`, names."""
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
    """Return the highest weight of each moment in any of `windows`, in [0, 1]; 0 without any."""
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
    """Return the window of `two months ago`: the longer ago, the wider."""
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
    """Return the window of `the past two weeks`: from then until now."""
    _, *count, unit = phrase.split()
    parsed = _parse(f"{_count(count) if count else 'one'} {unit} ago", now)
    if unit.startswith("weekend"):
        return _period("last", "weekend", now)
    if parsed is None:
        return None
    start, end = parsed[0].timestamp(), now.timestamp()
    return Window(start, end, max(DAY, (end - start) / 7))


def _period(which: str, unit: str, now: datetime) -> Window | None:
    """Return the window of `last month` or `this week`, by the calendar."""
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
    """Return the whole day, month or year of `5 March`, `May 2023`, `yesterday`."""
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
    """Return the moment that `phrase` names, and its precision: day, week, month or year."""
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
