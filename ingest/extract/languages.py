"""Extract statements in other languages than English, in the words in which they were said.

A statement has a word of the first person, or names what it is about and says something of it with
a verb of the table. Questions, thanks and guesses have none. The words are in the data files of
`semantic_memory.domain.languages`, one a language.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from semantic_memory.domain.facts import Category
from semantic_memory.domain.languages import UNSPACED, pattern
from semantic_memory.domain.patterns import regex

_QUESTION = regex(r"[?？]\W*$|か[。.]?$|^\s*¿")
_END = regex(r"(?<=[。！])")
_CERTAIN = regex(r"\d|\s[A-ZÀ-ÖØ-ÞА-ЯЁ]")
_OPENING = regex(r"^\W*")
_MOST_CHARACTERS = 300
_FEWEST_CHARACTERS = 4
_CATEGORIES = (
    ("technical", Category.TECHNICAL),
    ("project", Category.PROJECT),
    ("preference", Category.PREFERENCE),
)


class Told(NamedTuple):
    """A statement in its own words."""

    text: str
    category: Category
    of_speaker: bool
    """True if it is in the first person."""


def told(text: str, code: str, said: datetime | None = None) -> Iterator[Told]:
    """Yield the statements of a text in the language `code`, said at `said`.

    A day that depends on the day of speaking gets its date behind it.

    >>> [one.text for one in told("Hallo! Ich wohne in Köln. Wie geht es dir?", "de")]
    ['Ich wohne in Köln.']
    """
    for sentence in _sentences(text, code):
        if found := _read(sentence, code):
            yield found._replace(text=_dated(sentence, code, said)) if said else found


def _sentences(text: str, code: str) -> Iterator[str]:
    from semantic_memory.domain.segments import segments  # sentencex reads its tables

    for line in text.splitlines():
        for segment in segments(line, code):
            yield from (part.strip() for part in _END.split(segment) if part.strip())


def _read(sentence: str, code: str) -> Told | None:
    if not _FEWEST_CHARACTERS <= len(sentence) <= _MOST_CHARACTERS or _is_question(sentence, code):
        return None
    if _has(sentence, code, "orders"):
        return Told(sentence, Category.FEEDBACK, of_speaker=True)
    if _begins(sentence, code, "requests"):
        return None
    if _has(sentence, code, "hedges") or _has(sentence, code, "idle"):
        return None
    own = _is_of_speaker(sentence, code)
    if not own and (_begins(sentence, code, "pointing") or not _is_of_something(sentence, code)):
        return None
    if len(sentence.split()) < 2 and code not in UNSPACED:
        return None
    found = (category for key, category in _CATEGORIES if _has(sentence, code, key))
    return Told(sentence, next(found, Category.PERSONAL), own)


def _is_question(sentence: str, code: str) -> bool:
    if _QUESTION.search(sentence):
        return True
    asks = _has if code in UNSPACED else _begins
    return asks(sentence, code, "questions")


def _is_of_speaker(sentence: str, code: str) -> bool:
    opening = " ".join(sentence.split()[:2])
    return _has(sentence, code, "speaker") or _has(opening, code, "verbs")


def _is_of_something(sentence: str, code: str) -> bool:
    """Return whether a sentence has a verb of the table and mentions a certain thing.

    A name, a figure or a word of work makes it certain: "Cats are beautiful" is of none.
    """
    if not _has(sentence, code, "predicates"):
        return False
    if code in UNSPACED:
        return pattern(code, "leads") is None or _has(sentence, code, "leads")
    led = _begins(sentence, code, "leads")
    certain = _CERTAIN.search(sentence) or (sentence[:1].isupper() and not led)
    if not certain and not any(_has(sentence, code, key) for key in ("technical", "project")):
        return False
    return led or sentence[:1].isupper()


def _has(sentence: str, code: str, key: str) -> bool:
    found = pattern(code, key)
    return found is not None and found.search(sentence) is not None


def _begins(sentence: str, code: str, key: str) -> bool:
    found, start = pattern(code, key), _OPENING.match(sentence)
    return found is not None and bool(found.match(sentence, start.end() if start else 0))


def _dated(sentence: str, code: str, said: datetime) -> str:
    days = pattern(code, "days")
    found = days.search(sentence) if days else None
    # a noun in the middle of a German sentence is a time of day: "am Morgen"
    if found is None or (found.start() and found[0][:1].isupper()):
        return sentence
    from dateparser import parse  # 16 MB, and few statements name such a day

    base = {"RELATIVE_BASE": said.replace(tzinfo=None)}
    day = parse(found[0], languages=[code], settings=base)
    if day is None:
        return sentence
    return f"{sentence[: found.end()]} ({day:%Y-%m-%d}){sentence[found.end() :]}"
