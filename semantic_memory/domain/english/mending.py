"""Put a correction in the place of what it corrects: "sorry, I said 12, it's 21".

The statement that comes out is whole, "My locker is number 21", and is extracted as if it had been
said so. In doubt nothing is put together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.english.calendar import MONTHS, WEEKDAY
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_FIGURE = r"\d[\w:.,/-]*\w|\d"
_DATE = rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {one_of(MONTHS)}"
_DAY = rf"{WEEKDAY}|{one_of(MONTHS)}"
_NAME = r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
_KINDS = tuple(
    regex(rf"(?<![\w'])(?:{kind})(?![\w'])", re.IGNORECASE)
    for kind in (_DATE, _FIGURE, WEEKDAY, one_of(MONTHS))
)
_BEFORE_MONTH = regex(rf"(?:\b{phrases('mending.before_months')}|\d(?:st|nd|rd|th)?) $", re.I)
_VALUE = rf"(?:{_DATE}|{_FIGURE}|{_DAY}|{_NAME})"
_MONTHS = frozenset(month.lower() for month in MONTHS)
_GAP = r"[\s,;:.–—-]+"
_CORRECTION = regex(
    rf"^(?P<opening>(?:{phrases('mending.opening')}{_GAP})*)(?P<starred>\*)?"
    rf"(?:{phrases('mending.wrong')} (?P<wrong>{_VALUE}){_GAP}(?:but )?)?"
    rf"(?:{phrases('mending.meant')} )*(?P<right>{_VALUE})"
    r"(?: with [^,]+)?"
    r"(?: (?P<unit>(?!not\b)[a-z]+)(?=\W|$))??"
    rf"(?:,? {phrases('mending.wrong_behind')} (?P<not>{_VALUE}))?"
    rf"(?P<closing>(?:{_GAP}{phrases('mending.closing')}){{0,2}})\W*$",
    re.IGNORECASE,
)
_SIGNS = ("opening", "starred", "wrong", "not", "closing")
_SENTENCE = regex(r"(?<=[.!?])\s+")


def corrections(text: str) -> list[str]:
    """Return the sentences of a text that only correct a value: "*Leicester", "21, not 12".

    >>> corrections("Ah, typo. 21, not 12!"), corrections("I have 21")
    (['21, not 12!'], [])
    """
    return [one for one in _SENTENCE.split(text.strip()) if _gives_value(_correction(one))]


def _gives_value(found: re.Match[str] | None) -> bool:
    """Return whether a correction tells what it corrects, or a value other than a name."""
    if found is None:
        return False
    return bool(found["wrong"] or found["not"]) or any(
        kind.fullmatch(found["right"]) for kind in _KINDS
    )


def _correction(text: str) -> re.Match[str] | None:
    """Return a sentence read as a correction; None without a word or sign that it is one."""
    found = _CORRECTION.match(text.strip())
    if found is None or not any(found[one] for one in _SIGNS):
        return None
    return found


def mended(text: str, before: Sequence[str], heard: str = "") -> str | None:
    """Return the nearest statement of `before` with its value corrected; None if none is.

    `before` are sentences of the same speaker, the latest last. `heard` is what another said since;
    a correction that doesn't name what was wrong may be of a value in it.

    >>> mended("Sorry, I said 12, it's 21", ["My locker is number 12"])
    'My locker is number 21'
    >>> mended("It's Leena with two e's, not Lena", ["My tutor's name is Lena"])
    "My tutor's name is Leena"
    >>> mended("oops, the 9th", ["My birthday is on the 8th of May", "I like cake"])
    'My birthday is on the 9th of May'
    >>> mended("Correction, 540 euros", ["The invoice is 450 euros"])
    'The invoice is 540 euros'
    >>> mended("Sorry, 3 people", ["The invoice is 450 euros"])
    >>> mended("Thursday, sorry", ["My train is on Tuesday"])
    'My train is on Thursday'
    >>> mended("It's 21", ["My locker is number 12"])
    >>> mended("No, 7", ["I have 2 kids"], heard="Then take a car with 5 seats.")
    >>> mended("Sorry, June", ["My daughter April is 4"])
    """
    found = _correction(text)
    if found is None:
        return None
    wrong = found["wrong"] or found["not"]
    for sentence in reversed(before):
        spoken = _spoken(wrong, sentence) if wrong else _alike(found["right"], sentence)
        if len(spoken) == 1:
            if not wrong and _gives_another(heard, spoken[0][0]):
                return None
            start, end = spoken[0].span()
            if found["unit"] and not _goes_on(sentence[end:], found["unit"]):
                return None
            return sentence[:start] + found["right"] + sentence[end:]
    return None


def _spoken(value: str, sentence: str) -> list[re.Match[str]]:
    """Return where a sentence has a value."""
    return list(re.finditer(rf"(?<![\w']){re.escape(value)}(?![\w'])", sentence, re.IGNORECASE))


def _goes_on(rest: str, unit: str) -> bool:
    """Return whether the rest of a sentence begins with a unit: "sorry, 540 euros"."""
    return rest.lower().split()[:1] == [unit.lower()]


def _alike(value: str, sentence: str) -> list[re.Match[str]]:
    """Return where a sentence has a value of the same kind: figures, weekdays, or months."""
    for kind in _KINDS:
        if kind.fullmatch(value):
            ordinal = value[-1].isalpha()
            return [
                one
                for one in kind.finditer(sentence)
                if one[0][-1].isalpha() is ordinal
                and (one[0].lower() not in _MONTHS or _BEFORE_MONTH.search(sentence[: one.start()]))
            ]
    return []


def _gives_another(heard: str, value: str) -> bool:
    """Return whether a text has a value of the same kind, and not this one."""
    found = {one[0].lower() for one in _alike(value, heard)}
    return bool(found) and value.lower() not in found
