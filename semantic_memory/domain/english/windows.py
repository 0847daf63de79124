"""Read time expressions as windows of time: all those in a question, or one that a filter gives.

The expressions are found here and resolved by `dateparser`. People remember dates roughly, and talk
about things some time after they happened, so the window of a question has soft edges.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from semantic_memory.domain.english.calendar import (
    MONTHS,
    SHORT_MONTHS,
    SMALL_NUMBER,
    UNIT,
    WEEKDAY,
)
from semantic_memory.domain.english.notation import any_of, one_of
from semantic_memory.domain.english.tables import listed, mapping, phrases
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.values import DAY

_MONTH = one_of((*(month.lower() for month in MONTHS), *(f"{month}[.]" for month in SHORT_MONTHS)))
_NUMBER = (
    r"(?:\d{1,4}(?:\.\d+)?"
    rf"|{phrases('calendar.counts', 'calendar.rough_counts')}|{SMALL_NUMBER})"
)
_CLOCK_UNIT = phrases("calendar.clock_units")
_UNIT = rf"(?:{UNIT}|{_CLOCK_UNIT}|{phrases('calendar.compound_units')}|weekend)"
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
    "recent": (
        rf"(?P<recent>(?:past|last|previous) {_NUMBER} {_UNIT}s?"
        rf"|(?:this )?past {_UNIT}|last {_CLOCK_UNIT})"
    ),
    "period": rf"(?P<period>(?:last|previous|this) {_UNIT})",
    "day": rf"(?P<day>{phrases('calendar.asked_days')}|{_BEFORE_WEEKDAY}{WEEKDAY})",
    "date": f"(?P<date>{any_of(*_DATES)})",
    "month": rf"{_BEFORE_MONTH}(?:the )?{_EARLY}(?P<month>{_MONTH}(?:,? (?:of )?{_YEAR})?)",
    "year": rf"{_BEFORE_YEAR}(?P<year>{_YEAR})",
}
_RELATION = r"(?:\b(?P<relation>since|after|before|until) (?:the )?)?"
_EXPRESSION = regex(
    rf"(?<!\bnext )(?<!\bevery )(?<!\beach ){_RELATION}\b{any_of(*_KINDS.values())}\b",
    re.IGNORECASE,
)
_REQUEST = regex(rf"(?:\b|^){phrases('calendar.requests')}\b", re.IGNORECASE)
_PAST = regex(r"\b(?:did|was|were|had|have|has)\b", re.IGNORECASE)
_PAST_DAY = regex(r"\b(?:yesterday|last|previous)\b")
_LOOKS_BACK = regex(r"\b(?:did|was|were|had|(?:have|has) (?:I|we|you|he|she|they|it))\b", re.I)
# mostly ahead when it is named: "Dinner tonight?"
_TO_COME = regex(r"(?:today|now|tonight|this (?:evening|weekend|afternoon))(?:'s)?", re.IGNORECASE)
_COUNTS = {"couple": 2, "few": 3, "several": 4, "a": 1, "an": 1}
_SMALL = listed("numbers.small")
_DAYS = {"day": 1, "week": 7, "fortnight": 14, "hour": 1 / 24, "minute": 1 / 1440}
_DAYS["second"] = _DAYS["minute"] / 60
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_AROUND = {  # days to either side that a time some units ago may mean, and its softness
    "second": (1 / 1440, 1 / 1440),
    "minute": (1 / 288, 1 / 288),
    "hour": (0.02, 0.04),
    "day": (0.6, 1.0),
    "week": (2.0, 2.0),
    "fortnight": (2.0, 2.0),
    "month": (8.0, 10.0),
    "quarter": (25.0, 25.0),
    "year": (45.0, 45.0),
    "decade": (400.0, 400.0),
}
_WEEKEND_DAYS = 2
_LEADING = regex(r"(?:since|after|before|until|the) ", re.IGNORECASE)
_AGO = regex(r"\b(?:ago|earlier|back)$", re.IGNORECASE)
_BEFORE_SPAN = regex(
    rf"^(?:{phrases('calendar.span_prepositions')} )?(?:the )?"
    r"|^(?:earlier|so far) (?=this |today)|,? so far$"
)
_SHORT = regex(r"(\d+(?:\.\d+)?) ?([a-z]{1,4})\b")
_HALVES = (
    (regex(rf"\b(?:an? )?half (?:an? )?({_UNIT})s?\b"), r"0.5 \1"),
    (regex(rf"\b(?:an? |one |1 )?({_UNIT}) and a half\b"), r"1.5 \1"),
    (regex(rf"\b(\d+) and a half ({_UNIT})s\b"), r"\1.5 \2s"),
)
_TO_DATE = regex(rf"({_UNIT}) to date")
_BETWEEN = regex(r"(?:between|from) (?P<first>.+?) (?:and|to|until|till) (?P<last>.+)")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in Unix seconds, with soft edges (one sigma, in seconds)."""

    start: float
    end: float
    softness: float


def windows(question: str, now: datetime) -> list[Window]:
    """Return the stretches of time in `question`, asked at `now`.

    In a request about what is to come, "tonight" and "on Friday" are none.

    >>> now = datetime(2026, 5, 10, tzinfo=UTC)
    >>> len(windows("What did I eat today?", now)), len(windows("What should I eat today?", now))
    (1, 0)
    """
    is_request = _REQUEST.search(question) is not None and _PAST.search(question) is None
    of_the_past = _LOOKS_BACK.search(question) is not None
    found = (
        _read(one, now)
        for one in _EXPRESSION.finditer(question)
        if not (is_request and _may_be_ahead(one))
        and (of_the_past or not _TO_COME.fullmatch(one[0].strip()))
    )
    return [window for window in found if window is not None]


def _may_be_ahead(match: re.Match[str]) -> bool:
    phrase = (match["day"] or match["period"] or "").casefold()
    return bool(phrase) and _PAST_DAY.search(phrase) is None


def named(phrase: str, now: datetime) -> Window | None:
    """Return the stretch of time that a whole phrase names at `now`; None if it names none.

    >>> now = datetime(2026, 5, 10, tzinfo=UTC)
    >>> window = named("since March", now)
    >>> datetime.fromtimestamp(window.start, UTC).date().isoformat()
    '2026-03-01'
    """
    wording = " ".join(phrase.casefold().split())
    if ends := _BETWEEN.fullmatch(wording):
        first, last = named(ends["first"], now), named(ends["last"], now)
        if first is None or last is None or first.start >= last.end:
            return None
        return Window(first.start, last.end, max(first.softness, last.softness))
    plain = _plain(wording)
    for one in (wording, plain, f"in {plain}", f"past {plain}"):  # what is named may stand alone
        match = _EXPRESSION.fullmatch(one)
        if match is not None:
            return _read(match, now)
    return None


def _plain(wording: str) -> str:
    """Return the words for a span with numbers in digits, units in full, and nothing around them.

    >>> _plain("over the last twenty four hours"), _plain("24h"), _plain("an hour and a half ago")
    ('last 24 hours', '24 hour', '1.5 hour ago')
    """
    from semantic_memory.domain.english.numbers import with_digits  # loads a parser of numbers

    units = mapping("calendar.abbreviated_units")
    plain = _BEFORE_SPAN.sub("", with_digits(wording))
    plain = _SHORT.sub(lambda found: f"{found[1]} {units.get(found[2], found[2])}", plain)
    for pattern, meant in _HALVES:
        plain = pattern.sub(meant, plain)
    return _TO_DATE.sub(r"this \1", plain)


def beginning(phrase: str, now: datetime) -> datetime | None:
    """Return the moment at which the time that a phrase names begins; None if it names none.

    "three weeks ago" is that moment itself.
    """
    plain = _LEADING.sub("", " ".join(phrase.split()))
    window = named(plain, now)
    if window is None:
        return None
    middle = (window.start + window.end) / 2
    return datetime.fromtimestamp(middle if _AGO.search(plain) else window.start, UTC)


def _read(match: re.Match[str], now: datetime) -> Window | None:
    try:
        return _resolved(match, now)
    except (ValueError, OverflowError):  # reaches beyond the years that a datetime knows
        return None


def _resolved(match: re.Match[str], now: datetime) -> Window | None:
    kind = next(kind for kind in _KINDS if match[kind])
    window = _window(kind, match[kind].casefold(), now)
    if window is not None and match["last"] and window.start <= now.timestamp() < window.end:
        window = _window(kind, match[kind].casefold(), now - timedelta(days=365))
    return window and _related(match["relation"], window, now.timestamp())


def _related(relation: str | None, window: Window, now: float) -> Window:
    match (relation or "").casefold():
        case "since":
            return Window(window.start, max(now, window.end), window.softness)
        case "after":
            return Window(window.end, max(now, window.end), window.softness)
        case "before":
            return Window(-math.inf, window.start, window.softness)
        case "until":
            return Window(-math.inf, window.end, window.softness)
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
    unit = _singular(unit)
    around, softness = _AROUND[unit]
    centre = _before(now, _count(count), unit).timestamp()
    return Window(centre - around * DAY, centre + around * DAY, softness * DAY)


def _recent(phrase: str, now: datetime) -> Window | None:
    """Resolve "the past two weeks": from then until now."""
    _, *count, unit = phrase.removeprefix("this ").split()
    if unit.startswith("weekend"):
        return _period("last", "weekend", now)
    unit = _singular(unit)
    start, end = _before(now, _count(count), unit).timestamp(), now.timestamp()
    least = DAY if unit in _MONTHS or _DAYS[unit] >= 1 else _DAYS[unit] * DAY
    return Window(start, end, max(least, (end - start) / 7))


def _singular(unit: str) -> str:
    unit = unit.removesuffix("s")
    return "week" if unit == "weekend" else unit


def _before(now: datetime, count: float, unit: str) -> datetime:
    """Return the moment so many units before another; of part of a month, in days.

    >>> _before(datetime(2026, 3, 31, 12, tzinfo=UTC), 1, "month").isoformat()
    '2026-02-28T12:00:00+00:00'
    """
    if unit in _DAYS:
        return now - timedelta(days=count * _DAYS[unit])
    months, part = divmod(count * _MONTHS[unit], 1)
    first = _month_start(now, -int(months))
    day = min(now.day, (_month_start(first, 1) - first).days)
    return first.replace(day=day) - timedelta(days=30.44 * part)


def _period(which: str, unit: str, now: datetime) -> Window | None:
    """Resolve "last month", "this week": by the calendar."""
    shift = 0 if which == "this" else 1
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "hour" | "minute" | "second" if shift:
            return _recent(f"past {unit}", now)
        case "hour" | "minute" | "second":
            kept = ("hour", "minute", "second").index(unit)
            least = {"minute": 0, "second": 0, "microsecond": 0}
            start = now.replace(**dict([*least.items()][kept:]))  # type: ignore[arg-type]
            end = start + timedelta(days=_DAYS[unit])
        case "fortnight" | "decade":
            return _recent(f"past {unit}", now)
        case "quarter":
            start = _month_start(today, -((today.month - 1) % 3) - 3 * shift)
            end = _month_start(start, 3)
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


def _count(words: Sequence[str]) -> float:
    """Return the number that words stand for; 1 without any.

    >>> _count(["a", "couple", "of"]), _count(["12"]), _count(["three"]), _count([])
    (2.0, 12.0, 3.0, 1.0)
    """
    counts = [_COUNTS[word] for word in words if word in _COUNTS]
    if counts:
        return float(max(counts))
    word = words[-1] if words else "one"
    return float(_SMALL.index(word) + 1 if word in _SMALL else word)


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
