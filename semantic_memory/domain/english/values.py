"""Put another value in the place of the one in a statement: "the budget is 900", "make that 1200".

A value is a day, a time of day, a day of the week or a number. Only one of each kind is replaced;
in doubt none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.english.calendar import MONTH, WEEKDAY
from semantic_memory.domain.english.notation import any_of, one_of
from semantic_memory.domain.english.numbers import with_digits
from semantic_memory.domain.english.tables import keys, phrases, words
from semantic_memory.domain.english.words import Form, can_be_noun, forms, is_adverb
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem, stems

_SPELLED = one_of(words("numbers.small", "numbers.large") - {"a", "one"})
_TH = "(?:st|nd|rd|th)"
_DAY = any_of(
    rf"(?:{WEEKDAY}, )?\d{{1,2}}{_TH}?(?: of)? {MONTH}(?: \d{{4}})?",
    rf"{MONTH} \d{{1,2}}{_TH}?(?!\d)(?:, \d{{4}})?",
    rf"\d{{1,2}}{_TH}",
)
_TIME_OF_DAY = r"(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)"
_NUMBER = rf"(?:[$€£]?\d+(?:[.,]\d+)*[km%]?|{_SPELLED}(?:[ -]{_SPELLED})*)"
_KINDS = tuple(
    regex(rf"(?<![\w.,:-]){kind}(?![\w-])(?![.,:]\d)", re.IGNORECASE)
    for kind in (_DAY, rf"{MONTH} \d{{4}}", _TIME_OF_DAY, rf"{WEEKDAY}s?", _NUMBER)
)
"""Days, months of a year, times of day, days of the week, numbers."""
_UNITS = frozenset(
    stem(word)
    for name in keys("numbers.dimensions")
    for word in words(f"numbers.dimensions.{name}")
) - {""}
_NEXT_WORD = regex(r"\s*-?([a-z]+)", re.IGNORECASE)
_LAST_WORD = regex(r"([a-z]+) $", re.IGNORECASE)
_DIFFERENCES = words("numbers.differences.before")
_COMPARED = regex(
    rf"(?:\s*-?[a-z%]+)? {one_of(words('numbers.differences.behind'))}\b", re.IGNORECASE
)
_BOUND = regex(rf"\b{phrases('numbers.bounds')} $", re.IGNORECASE)
_FINITE = frozenset({Form.THIRD, Form.PAST})


class _Value(NamedTuple):
    text: str
    start: int
    end: int
    noun: str
    """The stem of the word behind it, which may be its unit."""
    label: str
    """The word before it, which may say what it numbers: "room" of "room 4"."""
    is_difference: bool
    """True if it says by how much something has changed: "up by 50"."""
    bound: str
    """The words before it that make it no exact one, with a blank: "at least "."""

    @property
    def plain(self) -> str:
        return with_digits(self.text.lower()).removesuffix("s").replace(",", "")


def revalued(statement: str, told: str) -> str | None:
    """Return a statement with the values that a text gives anew; None if that isn't clear.

    >>> revalued("The budget for the laptop is 900.", "make that 1200 for the laptop")
    'The budget for the laptop is 1200.'
    >>> revalued("The demo is on Monday at 2 pm.", "demo is tuesday 4pm now")
    'The demo is on Tuesday at 4pm.'
    >>> revalued("The budget is about 900.", "make that at least 1200")
    'The budget is at least 1200.'
    >>> revalued("The key rotates every 30 days.", "the key rotates every 2 weeks")
    >>> revalued("The team has 4 desks.", "we have 5 desks and 2 screens")
    >>> revalued("Alma turns 6 on the 12th of March.", "about nine children")
    >>> revalued("The rent is 900.", "the rent went up by 50")
    >>> revalued("The user's son is 6.", "my son is in year 2 now")
    """
    changed = statement
    for old, new in zip(_values(statement), _values(told), strict=True):
        known = {one.plain for one in old}
        others = {one.plain: one for one in new if one.plain not in known}
        if not others:
            continue
        if len(others) > 1 or len(old) != 1:
            return None
        (before,), (after,) = old, others.values()
        if after.is_difference or _counts_others(after, before, statement):
            return None
        if changed.count(before.text) != 1:
            return None
        exact = before.bound if after.bound else ""
        anew = after.bound.lower() + _like(before.text, after.text)
        changed = changed.replace(exact + before.text, anew)
    return changed if changed != statement else None


def _values(text: str) -> Iterator[list[_Value]]:
    """Yield the values of a text, kind by kind; what one kind has taken is left to no other."""
    left = text
    for kind in _KINDS:
        found = [
            _Value(
                *(one[0], one.start(), one.end(), _noun(text, one.end())),
                *(_label(text, one.start()), _is_difference(text, one), _bound(text, one.start())),
            )
            for one in kind.finditer(left)
        ]
        for one in found:
            left = left[: one.start] + " " * len(one.text) + left[one.end :]
        yield found


def _noun(text: str, end: int) -> str:
    behind = _NEXT_WORD.match(text, end)
    return stem(behind[1].lower()) if behind and not is_adverb(behind[1].lower()) else ""


def _label(text: str, start: int) -> str:
    leading = _LAST_WORD.search(text, 0, start)
    return leading[1].lower() if leading else ""


def _bound(text: str, start: int) -> str:
    found = _BOUND.search(text[:start])
    return found[0] if found else ""


def _is_difference(text: str, value: re.Match[str]) -> bool:
    compared = _COMPARED.match(text, value.end())
    return compared is not None or _label(text, value.start()) in _DIFFERENCES


def _counts_others(after: _Value, before: _Value, statement: str) -> bool:
    """Return whether the new value is one of something else: "2 weeks" for "30 days"."""
    if _numbers_others(after, statement):
        return True
    if after.noun in ("", before.noun):
        return False
    if after.noun in _UNITS:
        return True
    return after.noun not in STOP_WORDS and after.noun not in stems(statement)


def _numbers_others(value: _Value, statement: str) -> bool:
    """Return whether a number tells apart what the statement doesn't name: "year 2"."""
    return (
        value.text.isdigit()
        and can_be_noun(value.label)
        and forms(value.label).isdisjoint(_FINITE)
        and stem(value.label) not in stems(statement)
    )


def _like(old: str, new: str) -> str:
    """Return a value with the capital, and the plural of a day, that the old one has."""
    shaped = new[:1].upper() + new[1:] if old[:1].isupper() else new
    recurs = old[:1].isalpha() and old.lower().endswith("days") and shaped.lower().endswith("day")
    return f"{shaped}s" if recurs else shaped
