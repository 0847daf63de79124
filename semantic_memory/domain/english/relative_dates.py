"""Put the date behind relative dates, against the day on which something was said.

"I'm moving in March", said on 10 January 2026  ->  "I'm moving in March (2026-03)"
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from semantic_memory.domain.english.calendar import (
    ANY_MONTH,
    MONTH,
    SHORT_MONTH,
    SMALL_NUMBER,
    UNIT,
    WEEKDAY,
    month_number,
)
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD, Form, forms
from semantic_memory.domain.patterns import regex

Direction = Literal["past", "future"]

_NUMBER = rf"(?:\d+|{phrases('calendar.counts')}|{SMALL_NUMBER})"
_COUNTED = rf"{_NUMBER} {UNIT}s?"
_DAY_PART = rf"(?: {phrases('calendar.day_parts')})?"
_TH = "(?:st|nd|rd|th)?"
_ORDINAL = (
    r"\d{1,2}(?:st|nd|rd|th)"
    r"(?=\s*(?:$|[,.;:!)]|(?:and|at|for|because|so|but|when|if|now)\b))"
)
_DAY_OF_MONTH = rf"(?:{ANY_MONTH} \d{{1,2}}{_TH}|\d{{1,2}}{_TH} (?:of )?{ANY_MONTH})"
_WHICH_DAY = rf"(?P<which>{phrases('calendar.before_weekday')})"
_WHICH_SPAN = rf"(?P<spanwhich>{phrases('calendar.before_span')})"
_WHICH_MONTH = rf"(?P<monthwhich>{phrases('calendar.before_month')})"
_KINDS = {
    "day": phrases("calendar.days"),
    "weekday": rf"{_WHICH_DAY} (?P<dayname>{WEEKDAY}){_DAY_PART}",
    "span": rf"{_WHICH_SPAN} (?P<spanunit>{phrases('calendar.spans')})",
    "season": r"in (?:the )?(?P<seasonname>spring|summer|autumn|fall|winter)"
    r"(?! of\b|,? \d| term| school| camp| job| sale)",
    "nth": rf"(?:on|by|until|till|before|since|from|after) the (?P<dayofmonth>{_ORDINAL})",
    "due": rf"the (?P<dayofduty>{_ORDINAL})",
    "edge": rf"(?:the )?(?P<edgepart>{phrases('calendar.edges')}) of "
    r"(?P<edgewhich>the|this|next|last) (?P<edgeunit>week|month|year)",
    "bare": rf"(?P<barename>{WEEKDAY}){_DAY_PART}"
    rf"(?=\s*(?:$|[,.;:!)]|{phrases('calendar.behind_weekday')}\b))",
    "ago": rf"{_NUMBER} years? ago today|{_COUNTED} (?:ago|back|from now)"
    rf"|in {_COUNTED}(?:['’]s? time)?",
    "month": rf"{_WHICH_MONTH} (?P<monthname>{MONTH}|(?<=\bin ){SHORT_MONTH}\b)"
    r"(?! ?\d|, ?\d{4}| of \d)",
    "date": rf"(?:on )?(?:the )?{_DAY_OF_MONTH}(?!,? \d{{4}}|\w| times?\b)",
}
_DATE = any_of(*(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
# "on Wednesday afternoons" recurs
_RELATIVE = regex(
    rf"(?<![\w'-]){_DATE}(?![\w'-])(?! {phrases('calendar.day_parts')}s\b)", re.IGNORECASE
)
_GOING_ON = (
    r"\b(?:am|is|are|'m|'re|'s)\s+(?:(?:\w+ly|I|we|you|he|she|it|they)\s+)?\w+ing\b"
    r"|'(?:m|re|s)\s+\w+ing\b"
)
_FUTURE = regex(rf"\b{phrases('calendar.future')}\b|'ll\b|{_GOING_ON}", re.IGNORECASE)
_PASSIVE = regex(
    rf"(?:^|\b(?:is|are)\s)(?:\w+ly\s)?(?!{phrases('calendar.done')}\b)\w+ed\s(?:for|on|in|by)\b",
    re.IGNORECASE,
)
_GETS = regex(r"\b(?:gets?|getting) (?:re)?[a-z]+ed\b", re.IGNORECASE)  # "gets married"
_IN_STATE = regex(r"(?:'m|'re|\bam|\bare)(?: (?:so|very|really|a bit))? [a-z]+ed\b", re.IGNORECASE)
# "in May we moved", unlike "we may move"
_MONTH_OF_MAY = regex(
    rf"(\d{_TH}(?: of)?|\b{phrases('calendar.before_month')}) may\b", re.IGNORECASE
)
_ENDS = regex(r"[.!?]\s+(?=[^\sa-z\d])|\n")
_PUT_OFF = regex(
    rf"\b{phrases('calendar.put_off')}\b[^.;]{{0,50}}?"
    rf" (?:to|until|till) (?:the |on )?(?:\d{{1,2}}{_TH}\b|{MONTH}\b|{WEEKDAY}\b)",
    re.IGNORECASE,
)
_HAVE_GOT = regex(r"(?:'ve|'s|\bhave|\bhas) got\b", re.IGNORECASE)
_PARTS = regex(rf"[,;:]\s|\s(?:{phrases('calendar.parting')})\s", re.IGNORECASE)
_SCHEDULED = regex(rf"\b{phrases('calendar.scheduled')}\b", re.IGNORECASE)
# "had a letter, the eye screening is on 2 June", the verb left out
_APPOINTED = regex(
    rf"(?:[\w-]+ ){{0,3}}?{phrases('calendar.on_day')}(?: (?:is|with [^,]+?|at [^,]+?))? "
    rf"(?:on |the ){{0,2}}(?:\d|{MONTH}\b)",
    re.IGNORECASE,
)
_AGREED = regex(rf"\b{phrases('calendar.agreed')} (?:not )?to\b", re.IGNORECASE)
_PERHAPS = regex(
    rf"\b{phrases('calendar.hoped')} (?:not )?to\b"
    r"|\b(?:was|were) due\b|\bdeadlines? (?:was|were)\b",
    re.IGNORECASE,
)
_WOULD = regex(
    r"(?:\bwould|\bshould|\bmight|\blet's|'d)\s(?:\w+ly\s|never\s|not\s)?(?P<verb>(?!have\b|been\b)\w+)",
    re.IGNORECASE,
)
_OF_ANOTHER = regex(r"\b(?:my|our|your|his|her|its|their|the|a|an|\w+['’]s)\s$", re.IGNORECASE)
_NAMED_DAY = regex(rf"\b{WEEKDAY}s?\b", re.IGNORECASE)
_BY = regex(r"\b(?:by|until|till)\s(?:the\s)?$", re.IGNORECASE)
_FOR = regex(rf"\b{phrases('calendar.reserved')}\b[^.;]{{0,60}} for$", re.IGNORECASE)
# "signed up for a run in May": the run or the signing
_FOR_SOMETHING = regex(
    rf"\b{phrases('calendar.reserved')} (?:\w+ ){{0,3}}for (?:\w+ ){{1,3}}in$", re.IGNORECASE
)
_ON_DAY = r"(?: \w+ly| now| already| still| again)?(?: on)? $"
_FALLS_ON = regex(
    rf"\b{phrases('calendar.on_day')}(?:'s| (?:\w+ ){{0,4}}?(?:is|are|was|were)){_ON_DAY}",
    re.IGNORECASE,
)
# "handover is 3 May"
_IS_DATE = regex(rf"(?:\bis|\bare|['’]s|['’]re){_ON_DAY}", re.IGNORECASE)
_BEFORE_DAY = regex(rf"\b{phrases('calendar.before_day')}{_ON_DAY}", re.IGNORECASE)
_AT = regex(rf" (?:the )?(?:{MONTH}|{_DAY_OF_MONTH}|{WEEKDAY})$", re.IGNORECASE)
_BACK = regex(r"('m|'re|'s|\w+) back in\b", re.IGNORECASE)
_DOES = regex(r"\b(?:I|we|you|they) (?P<verb>\w+)", re.IGNORECASE)
_DID = regex(r"\bdid(?:n['’]?t)?\b", re.IGNORECASE)
_ON_NUMBERED = regex(
    r"\bon (?:the )?(?:"
    rf"\d{{1,2}}{_TH}(?: of)? {ANY_MONTH}|{ANY_MONTH} \d{{1,2}}{_TH})$",
    re.IGNORECASE,
)
_SINCE = regex(r"\bsince\s(?:the\s)?$", re.IGNORECASE)
_QUOTED = regex(r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»')
_UNDATED = regex(rf"\b{phrases('calendar.undated')}\b", re.IGNORECASE)
_BEFORE_BARE = words("calendar.before_bare_weekday")
_NEARBY = 200
"""Characters around a date that may mention it."""
_NEAR = {"today": 0, "yesterday": -1, "tomorrow": 1}
"""Days from the day of speaking."""
_SEASON_BEGINS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9}


def dated_in_place(text: str, said: datetime) -> str:
    """Return a text with the ISO date behind each of its relative dates but those of its own day.

    Leaves a date as it is that is vague ("recently"), recurs ("every May") or can't be placed, and
    what is quoted: somebody said it at another time, or it is a name.

    >>> dated_in_place("I ran yesterday", datetime(2026, 3, 5))
    'I ran yesterday (2026-03-04)'
    """
    if _RELATIVE.search(text) is None:
        return text
    today = _day_of(said)
    quoted = [found.span() for found in _QUOTED.finditer(text)]

    def dated(found: re.Match[str]) -> str:
        if any(start < found.start() and found.end() < end for start, end in quoted):
            return found[0]
        sentence, start = _around(text, found)
        direction = _direction(sentence, found.start() - start, found.end() - start)
        date = _resolved(found, said, direction, sentence)
        return f"{found[0]} ({date})" if date and date != today else found[0]

    return _RELATIVE.sub(dated, text)


def _direction(sentence: str, place: int, end: int) -> Direction | None:
    """Return whether a date within a sentence is past or to come; None if nothing tells.

    What its clause says up to the date tells first, then the clause, and the whole sentence only
    if the clause has no verb of its own: "I was here in May and will be in June".
    """
    if _SINCE.search(sentence[:place]):
        return "past"
    before = _AT.sub("", sentence[:end])
    if _FOR.search(before):
        return "future"
    # "class is on Monday" may recur
    if _IS_DATE.search(sentence[:place]) and not _NAMED_DAY.search(sentence, place, end):
        return "future"
    begun = max((end.end() for end in _PARTS.finditer(sentence, 0, place)), default=0)
    dated = max((end.end() for end in _RELATIVE.finditer(sentence, 0, place)), default=0)
    behind = _PARTS.search(sentence, end - 1)
    clause = sentence[max(begun, dated) : behind.start() if behind else len(sentence)]
    if _PERHAPS.search(clause) or _FOR_SOMETHING.search(before):
        return None
    for part in (sentence[max(begun, dated) : end], clause):
        if (found := _shown(part)) or _SCHEDULED.search(part):
            return found or "future"
    if begun and _APPOINTED.match(clause):
        return "future"
    if max(begun, dated) and _is_present(clause):
        return None
    if found := _shown(sentence):
        return found
    # "the rent goes up on 1 March", unlike "we ski in March" and "the mail from 1 March"
    on_day = _ON_NUMBERED.search(sentence[:end]) and not _UNDATED.search(sentence)
    is_ahead = _BY.search(sentence[:place]) or (on_day and _is_present(clause))
    return "future" if is_ahead else None


def _is_present(clause: str) -> bool:
    """Return whether a clause has a verb in the present: "the doctor sees me", "I see Ben"."""
    done = (found["verb"] for found in _DOES.finditer(clause))
    return any(Form.THIRD in forms(word) for word in WORD.findall(clause)) or any(
        Form.BASE in forms(verb) for verb in done
    )


def _shown(text: str) -> Direction | None:
    """Return the direction that the verbs of a text show."""
    text = _MONTH_OF_MAY.sub(r"\1 ", text)
    if _FUTURE.search(text) or _PUT_OFF.search(text) or _AGREED.search(text):
        return "future"
    if any(Form.BASE in forms(found["verb"]) for found in _WOULD.finditer(text)):
        return "future"
    if _GETS.search(text) or _PASSIVE.search(text):
        return "future"  # "the results are announced on 4 May"
    text = _IN_STATE.sub(" ", text)
    plain = _HAVE_GOT.sub(" ", text)
    if _DID.search(plain):
        return "past"
    told = (forms(word) for word in WORD.findall(plain))
    if any(Form.PAST in own and Form.BASE not in own for own in told):  # not "split", "set"
        return "past"
    return None


def _around(text: str, found: re.Match[str]) -> tuple[str, int]:
    """Return the sentence of a text in which a date stands, and the sentence's place in it.

    Of a sentence without an end, only what is near the date.
    """
    first = max(0, found.start() - _NEARBY)
    last = min(len(text), found.end() + _NEARBY)
    # one letter further, at which the end of the sentence before looks
    ends = (end.end() for end in _ENDS.finditer(text, first, found.start() + 1))
    start = max((end for end in ends if end <= found.start()), default=first)
    behind = _ENDS.search(text, found.end(), last)
    return text[start : behind.start() if behind else last], start


def _resolved(
    found: re.Match[str], said: datetime, direction: Direction | None, text: str
) -> str | None:
    """Return the ISO date of a day, month or year, or "week of" a day; None if it can't be told."""
    match found.lastgroup:
        case "day":
            return _day(found["day"].lower(), said)
        case "weekday":
            return _weekday(found["which"].lower(), found["dayname"], said, direction, text)
        case "span" | "season":
            return _nearby_span(found, said, direction, text)
        case "bare":
            return _bare_weekday(found, said, direction, text)
        case "edge":
            return _edge(found, said, direction)
        case "nth" | "due":
            return _ordinal(found, said, direction)
        case "ago":
            if found["ago"].lower().startswith("in ") and direction == "past":
                return None  # "I made it in two days"
            return _ago(found["ago"].lower(), said)
        case "month":
            return _month(found["monthwhich"], found["monthname"], said, direction, text)
        case _:
            return _calendar_day(found["date"], said, direction, text)


def _day(phrase: str, said: datetime) -> str | None:
    plain = regex(r"^the | (?:morning|afternoon|evening|night)$").sub("", phrase)
    plain = {"this": "today", "tonight": "today", "last": "yesterday"}.get(plain, plain)
    return _day_of(_parse(plain, said, "past"))


def _weekday(
    which: str, name: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    if which in ("last", "this past", "the previous"):
        direction = "past"
    elif which in ("next", "this coming", "this"):
        direction = "future" if which != "this" else direction or "future"
    elif direction is None or _UNDATED.search(text):
        return None
    return _day_of(_parse(name, said, direction))


def _bare_weekday(
    found: re.Match[str], said: datetime, direction: Direction | None, text: str
) -> str | None:
    """Return the day of "she starts Monday"; None for "the Monday meeting", "Monday to Friday"."""
    before = found.string[max(0, found.start() - _NEARBY) : found.start()].split()
    last = before[-1].lower() if before else ""
    if last == "to":
        is_told = _PUT_OFF.search(text) is not None  # not "Monday to Friday"
    elif _NAMED_DAY.search(" ".join(before)):
        return None  # "starts Monday, leaves Friday": no telling which Friday
    else:
        is_told = bool(forms(last)) or last in _BEFORE_BARE or last in ("until", "till", "since")
    if not is_told:
        return None
    return _weekday("on", found["barename"], said, direction, text)


def _edge(found: re.Match[str], said: datetime, direction: Direction | None) -> str | None:
    """Return the week, month or year of which the end or the beginning is named."""
    which = found["edgewhich"].lower()
    if which == "the" and direction != "future":
        return None  # "I was broke at the end of the month"
    return _span(which, found["edgeunit"].lower(), said)


def _nearby_span(
    found: re.Match[str], said: datetime, direction: Direction | None, text: str
) -> str | None:
    """Return the span that "last year" names; None for "the last year", "her last year"."""
    if found["season"]:
        return _this_season(found["seasonname"].lower(), said, direction, text)
    before = found.string[max(0, found.start() - _NEARBY) : found.start()]
    if _OF_ANOTHER.search(before):
        return None
    return _span(found["spanwhich"].lower(), found["spanunit"].lower(), said)


def _span(which: str, unit: str, said: datetime) -> str:
    step = {"last": -1, "this past": -1, "next": 1, "this coming": 1}.get(which, 0)
    if unit in ("week", "weekend"):
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
        if unit == "week":
            return f"week of {monday.date().isoformat()}"
        return (monday + timedelta(days=5)).date().isoformat()
    if unit == "month":
        months = said.year * 12 + said.month - 1 + step
        return _month_of(months // 12, months % 12 + 1)
    if unit == "year":
        return str(said.year + step)
    return _season(step, unit, said)


def _season(step: int, unit: str, said: datetime) -> str:
    begins = _SEASON_BEGINS[unit]
    year = said.year + step
    over, to_come = said.month >= begins + 3, said.month < begins
    if (step == -1 and over) or (step == 1 and to_come):
        year = said.year
    return str(year)


def _this_season(season: str, said: datetime, direction: Direction | None, text: str) -> str | None:
    """Return the season that "I moved in the summer" means; None for one of every year."""
    begins = _SEASON_BEGINS.get(season)
    if direction is None or begins is None or _UNDATED.search(text):
        return None
    year = said.year
    if direction == "past" and said.month < begins:
        year -= 1
    elif direction == "future" and said.month > begins + 2:
        year += 1
    return str(year)


def _ago(phrase: str, said: datetime) -> str | None:
    plain = re.sub(r"^(in )?(?:a )?couple of ", r"\g<1>2 ", phrase)
    plain = re.sub(r"\bback$", "ago", re.sub(r"['’]s? time$", "", plain))
    if plain.endswith("from now"):
        plain = "in " + plain.removesuffix(" from now")
    is_day = plain.endswith(" today")
    moment = _parse(plain.removesuffix(" today"), said, "past")
    if moment is not None and not is_day:
        if "year" in plain:
            return str(moment.year)
        if "month" in plain:
            return _month_of(moment.year, moment.month)
    return _day_of(moment)


def _ordinal(found: re.Match[str], said: datetime, direction: Direction | None) -> str | None:
    """Return the next day of that number, or the last one if it is past.

    "By the 5th" is a day, "the demo is the 12th" and "rent is due the 5th" are; "the 3rd" is none.
    """
    if found["due"]:
        before = found.string[max(0, found.start() - _NEARBY) : found.start()]
        if not (_FALLS_ON.search(before) or _BEFORE_DAY.search(before)):
            return None
    if (found["nth"] or "").lower().startswith("since"):
        direction = "past"
    day = int((found["dayofmonth"] or found["dayofduty"])[:-2])
    months = said.year * 12 + said.month - 1
    if direction == "past" and day > said.day:
        months -= 1
    elif direction != "past" and day < said.day:
        months += 1
    try:
        date = said.replace(year=months // 12, month=months % 12 + 1, day=day)
    except ValueError:
        return None
    return _day_of(date)


def _month(
    which: str, name: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    lowered = which.lower()
    returns = lowered.startswith("back") and any(
        one[0] == "'" or forms(one) for one in _BACK.findall(text)
    )  # "came back in"
    if lowered == "last" or (lowered.startswith("back") and not returns):
        direction = "past"
    elif lowered == "next":
        direction = "future"
    elif lowered.startswith(("this", "by", "until", "till")):
        direction = direction or "future"
    elif lowered in ("since",):
        direction = "past"
    if (
        direction is None
        or _UNDATED.search(text)
        or (name == "may" and not lowered.endswith(("in", "last", "next", "of")))
    ):
        return None
    number = month_number(name)
    year = said.year
    if direction == "past" and (
        number > said.month or (number == said.month and lowered == "last")
    ):
        year -= 1
    elif direction == "future" and number < said.month:
        year += 1
    return _month_of(year, number)


def _calendar_day(
    phrase: str, said: datetime, direction: Direction | None, text: str
) -> str | None:
    if direction is None or _UNDATED.search(text):
        return None
    plain = re.sub(r"^(?:on )?(?:the )?|\bof\b|(?<=\d)(?:st|nd|rd|th)\b", "", phrase, flags=re.I)
    return _day_of(_parse(plain.strip(), said, direction))


def _day_of(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def _month_of(year: int, number: int) -> str:
    return f"{year}-{number:02d}"


@lru_cache(maxsize=8_192)
def _parse(phrase: str, said: datetime, direction: Direction) -> datetime | None:
    if phrase in _NEAR:
        return said + timedelta(days=_NEAR[phrase])
    # 16 MB and a tenth of a second to import, so not before a date needs it
    from dateparser import parse

    base = said.replace(tzinfo=None)
    day: datetime | None = parse(
        phrase,
        languages=["en"],
        settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": direction},
    )
    return day
