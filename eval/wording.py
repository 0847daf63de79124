"""Rules that compare a fact's wording with an expectation: words, polarity, dates.

They read English only and know no extractor. Texts are compared casefolded, with straight
apostrophes and without the backticks around code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_NAMES = "|".join(rf"{name[:3]}(?:{name[3:]}|\.)?" for name in _MONTHS)
_MONTH = rf"(?P<month>{_NAMES})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATES = tuple(
    re.compile(rf"(?<![\w.-]){form}(?![\w-])")
    for form in (
        rf"{_YEAR}-(?P<month>\d\d)(?:-(?P<day>\d\d))?",
        rf"{_DAY} (?:of )?{_MONTH},? {_YEAR}",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        rf"{_MONTH},? {_YEAR}",
        _YEAR,
    )
)
"""Written dates, the longer forms first."""

_NOT = frozenset(
    """
    no not never none nor neither nobody nothing nowhere without cannot cant dont doesnt didnt isnt
    arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt
    """.split()
)
_ENDING = frozenset(
    """
    avoid avoids avoided quit quits stopped stops ceased gave given gives done refuses lacks skip
    skips omit omits drop dropped leave leaves free
    """.split()
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def normalized(text: str) -> str:
    """Return `text` casefolded, with straight apostrophes, single spaces and no backticks."""
    return " ".join(text.casefold().replace("’", "'").replace("`", "").split())


def holds(text: str, words: str) -> bool:
    """Return True if `words` occur in `text` in this order, as whole words.

    A trailing `*` stands for any ending.

    >>> holds("The gateway listens on port 9443.", "port 9443")
    True
    >>> holds("Costs 1,180 euros", "180"), holds("She stopped crashing", "crash*")
    (False, True)
    """
    return _whole(words).search(normalized(text)) is not None


def holds_all(text: str, groups: Sequence[Sequence[str]]) -> bool:
    """Return True if `text` holds at least one alternative of every group."""
    return all(any(holds(text, words) for words in group) for group in groups)


def is_negated(text: str) -> bool:
    """Return True if `text` has a word of negation.

    >>> is_negated("The user doesn't eat meat."), is_negated("The user is vegan.")
    (True, False)
    """
    return any(word in _NOT or word.endswith("n't") for word in _words(text))


def is_negative(text: str) -> bool:
    """Return True if `text` denies: a word of negation, or a verb of ending or avoiding.

    >>> is_negative("The user avoids gluten.")
    True
    """
    return is_negated(text) or any(word in _ENDING for word in _words(text))


def gives_date(text: str, expected: str) -> bool:
    """Return True if `text` has a written date that lies within `expected`.

    `expected` is a day, a month or a year in ISO form. A day asks for a day; a month is also met
    by one of its days, a year by any date in it.

    >>> gives_date("The flight is on Friday, 13 March 2026.", "2026-03-13")
    True
    >>> gives_date("They moved in March 2025.", "2025-03"), gives_date("In 2025.", "2025-03")
    (True, False)
    """
    return any(found == expected or found.startswith(f"{expected}-") for found in dates(text))


def dates(text: str) -> Iterator[str]:
    """Yield the dates written in `text` in ISO form, as precise as they are written."""
    rest = normalized(text)
    for form in _DATES:
        for found in form.finditer(rest):
            if written := _iso(found.groupdict()):
                yield written
        rest = form.sub(" ", rest)


def _iso(parts: dict[str, str | None]) -> str | None:
    year, month, day = parts["year"], parts.get("month"), parts.get("day")
    if month is None:
        return year
    number = int(month) if month.isdigit() else _number(month)
    try:
        known = date(int(year or 0), number, int(day or 1))
    except ValueError:
        return None
    return known.isoformat() if day else known.isoformat()[:7]


def _number(month: str) -> int:
    return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(month[:3]))


def _words(text: str) -> list[str]:
    return _WORD.findall(normalized(text))


@lru_cache(maxsize=4_096)
def _whole(words: str) -> re.Pattern[str]:
    """Return the pattern of `words` that matches no part of a longer word or number."""
    stem = normalized(words.removesuffix("*"))
    start = r"(?<!\w)(?<!\d[.,])" if stem[:1].isdigit() else r"(?<!\w)"
    end = r"(?!\w)(?![.,]\d)" if stem[-1:].isdigit() else r"(?!\w)"
    return re.compile(start + re.escape(stem) + (r"\w*" if words.endswith("*") else end))
