"""Makes relative dates absolute, against the day on which something was said.

"I'm moving in March", said on 10 January 2026  ->  "I'm moving in March 2026"
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Literal

from ingest.extract.lexicon import WORD, Form, forms

_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
CALENDAR = frozenset((*_MONTHS, *_DAYS))
"""The names of months and days."""
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_DAY = rf"(?:{'|'.join(_DAYS)})"
_NUMBER = (
    r"(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a[ ])?couple[ ]of)"
)
_UNIT = r"(?:day|week|month|year)s?"

_RELATIVE = re.compile(
    rf"""(?<![\w'-])(?:
      (?P<day> (?:the[ ])?day[ ]before[ ]yesterday | (?:the[ ])?day[ ]after[ ]tomorrow
        | (?:yesterday|tomorrow)[ ](?:morning|afternoon|evening|night)
        | yesterday | tomorrow | today | tonight | last[ ]night | this[ ](?:morning|afternoon
          |evening) )
    | (?P<weekday> (?:(?P<which>last|next|this|this[ ]past|this[ ]coming|on|on[ ]this
      |the[ ]previous)[ ])
        (?P<dayname>{_DAY}) (?:[ ](?:morning|afternoon|evening|night))? )
    | (?P<span> (?P<spanwhich>last|next|this|this[ ]past|this[ ]coming)[ ]
        (?P<spanunit>week(?:end)?|month|year|spring|summer|fall|autumn) )
    | (?P<ago> {_NUMBER}[ ]{_UNIT}[ ](?:ago|back|from[ ]now)
      | in[ ]{_NUMBER}[ ]{_UNIT}(?:['’]s?[ ]time)? )
    | (?P<month> (?:(?P<monthwhich>last|next|this|in|back[ ]in|in[ ](?:early|late|mid)|by|since
      |until|for)[ ])
        (?P<monthname>{_MONTH}) (?![ ]?\d|,[ ]?\d{{4}}|[ ]of[ ]\d) )
    | (?P<date> (?:on[ ])?(?:the[ ])? (?:{_MONTH}[ ]\d{{1,2}}(?:st|nd|rd|th)? | \d{{1,2}}(?:st|nd
      |rd|th)?[ ](?:of[ ])?{_MONTH})
        (?!,?[ ]\d{{4}}|\w) )
    )(?![\w'-])""",
    re.IGNORECASE | re.VERBOSE,
)
_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|plan(?:s|ning)?|about to|can't wait|looking forward|hop(?:e|es"
    r"|ing)|shall"
    r"|scheduled|due|deadline|upcoming|tomorrow|next)\b|'ll\b|\b(?:am|is|are|'m|'re|'s)\s+"
    r"(?:\w+ly\s+)?(?:\w+ing)\b"
    r"|'(?:m|re|s)\s+\w+ing\b",
    re.IGNORECASE,
)
# These are about a day of some unnamed year, or of every year.
_UNDATED = re.compile(
    r"\b(?:born|birthday|anniversary|every|each|always|usually|often|annual\w*|holiday)\b",
    re.IGNORECASE,
)
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9}

Direction = Literal["past", "future"]


def absolute_dates(text: str, said: datetime) -> str:
    """`text` with every date that is relative to `said`, the time it was said, spelt out.

    What stays vague ("recently"), recurs ("every May") or can't be placed is left as it is.
    """
    if _RELATIVE.search(text) is None:
        return text
    direction = _direction(text)

    def resolved(found: re.Match[str]) -> str:
        date = _resolved(found, said, direction, text)
        return _behind(text[: found.start()], date) if date else found[0]

    return _RELATIVE.sub(resolved, text)


def _behind(before: str, date: str) -> str:
    """`date` without the preposition that what stands before it has already."""
    words = before.split()
    if not words or not before[-1:].isspace() or words[-1].lower() not in _PREPOSITIONS:
        return date
    return re.sub(r"^(?:on|in|around) ", "", date)


_PREPOSITIONS = frozenset(
    "for of since until till by from before after than through about around like roughly "
    "almost nearly to".split()
)


def _direction(text: str) -> Direction | None:
    """Whether the clause speaks of what was or of what will be; None if it shows neither."""
    if _FUTURE.search(text):
        return "future"
    if any(Form.PAST in forms(word) for word in WORD.findall(text)):
        return "past"
    return None


def _resolved(
    found: re.Match[str], said: datetime, direction: Direction | None, text: str
) -> str | None:
    match found.lastgroup and next(
        kind for kind in ("day", "weekday", "span", "ago", "month", "date") if found[kind]
    ):
        case "day":
            return _day(found["day"].lower(), said)
        case "weekday":
            return _weekday(found["which"].lower(), found["dayname"], said, direction, text)
        case "span":
            return _span(found["spanwhich"].lower(), found["spanunit"].lower(), said)
        case "ago":
            return _ago(found["ago"].lower(), said)
        case "month":
            return _month(found["monthwhich"], found["monthname"], said, direction, text)
        case _:
            return _calendar_day(found["date"], said, direction, text)


def _day(phrase: str, said: datetime) -> str | None:
    part = re.search(r"\b(?:morning|afternoon|evening|night)$", phrase)
    if phrase == "tonight":
        part_name = "evening"
    elif part:
        part_name = part[0]
    else:
        part_name = ""
    plain = re.sub(r"^the ", "", phrase)
    if phrase.startswith("this ") or phrase == "tonight":
        plain = "today"
    elif phrase == "last night":
        plain = "yesterday"
    elif part:
        plain = phrase[: part.start()].strip()
    day = _parse(plain, said, "past")
    if day is None:
        return None
    return f"on the {part_name} of {written(day)}" if part_name else f"on {written(day)}"


def _weekday(
    which: str, name: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    if which in ("last", "this past", "the previous"):
        direction = "past"
    elif which in ("next", "this coming", "this"):
        direction = "future" if which != "this" else direction or "future"
    elif direction is None or _UNDATED.search(text):
        return None
    day = _parse(name, said, direction)
    return f"on {name.capitalize()}, {written(day)}" if day else None


def _span(which: str, unit: str, said: datetime) -> str | None:
    step = {"last": -1, "this past": -1, "next": 1, "this coming": 1}.get(which, 0)
    if unit in ("week", "weekend"):
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
        if unit == "week":
            return f"in the week of {written(monday)}"
        if which == "this past":
            monday = said - timedelta(days=said.weekday() + 7)
        return f"on the weekend of {written(monday + timedelta(days=5))}"
    if unit == "month":
        months = said.year * 12 + said.month - 1 + step
        return f"in {_MONTHS[months % 12]} {months // 12}"
    if unit == "year":
        return f"in {said.year + step}"
    return _season(step, unit, said)


def _season(step: int, unit: str, said: datetime) -> str:
    begins = _SEASONS[unit]
    year = said.year + step
    over, to_come = said.month >= begins + 3, said.month < begins
    if (step == -1 and over) or (step == 1 and to_come):
        year = said.year
    return f"in the {unit} of {year}"


def _ago(phrase: str, said: datetime) -> str | None:
    plain = re.sub(r"^(in )?(?:a )?couple of ", r"\g<1>2 ", phrase)
    plain = re.sub(r"\bback$", "ago", re.sub(r"['’]s? time$", "", plain))
    if plain.endswith("from now"):
        plain = "in " + plain.removesuffix(" from now")
    moment = _parse(plain, said, "past")
    if moment is None:
        return None
    if "year" in plain:
        return f"in {moment.year}"
    if "month" in plain:
        return f"in {_MONTHS[moment.month - 1]} {moment.year}"
    # "three weeks ago" is not said of a day
    return f"around {written(moment)}" if "week" in plain else f"on {written(moment)}"


def _month(
    which: str, name: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    lowered = which.lower()
    if lowered == "last" or lowered.startswith("back"):
        direction = "past"
    elif lowered == "next":
        direction = "future"
    elif lowered in ("this", "by"):
        direction = direction or "future"
    elif lowered in ("since",):
        direction = "past"
    if (
        direction is None
        or _UNDATED.search(text)
        or (name == "may" and lowered not in ("in", "last", "next"))
    ):
        return None
    number = [month.lower() for month in _MONTHS].index(name.lower()) + 1
    year = said.year
    if direction == "past" and (
        number > said.month or (number == said.month and lowered == "last")
    ):
        year -= 1
    elif direction == "future" and number < said.month:
        year += 1
    kept = "in" if lowered in ("last", "next", "this", "back in") else which
    return f"{kept} {_MONTHS[number - 1]} {year}"


def _calendar_day(
    phrase: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    if direction is None or _UNDATED.search(text):
        return None
    plain = re.sub(r"^(?:on )?(?:the )?|\bof\b|(?<=\d)(?:st|nd|rd|th)\b", "", phrase, flags=re.I)
    day = _parse(plain.strip(), said, direction)
    on = "on " if phrase.lower().startswith("on ") else ""
    return f"{on}{written(day)}" if day else None


def written(day: datetime) -> str:
    """A date as it stands in a fact: 9 January 2026, whatever the locale."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _parse(phrase: str, said: datetime, direction: Direction) -> datetime | None:
    # 16 MB and a tenth of a second to import, so not before a date needs it
    from dateparser import parse

    base = said.replace(tzinfo=None)
    day: datetime | None = parse(
        phrase,
        languages=["en"],
        settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": direction},
    )
    return day
