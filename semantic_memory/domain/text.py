"""The text of a memory as it is searched: what is embedded, what words are matched.

Words are Unicode runs of letters and digits, casefolded, without function words, stemmed by
Porter's algorithm (the Snowball project's `porter`, which SQLite's FTS5 uses as well). Scripts
written without spaces are cut into overlapping pairs of characters.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]")

# The Snowball project's list for English.
STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
    don't down during each few for from further had hadn't has hasn't have haven't having he her
    here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its itself
    just me more most my myself no nor not now of off on once only or other our ours ourselves out
    over own same she should shouldn't so some such than that that's the their theirs them
    themselves then there these they they're this those through to too under until up very was
    wasn't we we're were weren't what what's when where which while who whom whose why will with
    won't would wouldn't you you're your yours yourself yourselves
    """.split()
)

# strftime's depend on the locale
_MONTHS = (
    "January February March April May June July August September October November December"
).split()

_FIGURE = re.compile(
    r"\d+(?:[.,:]\d+)*|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]*uary|ch|il|e|y|ust"
    r"|[a-z]*ber)?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)

_LAST_DAY = 2_932_896  # 31 December 9999, which as Unix seconds is rounded up to the next

_stemmer = threading.local()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    # A Stemmer object isn't thread-safe, so each thread has its own.
    if not hasattr(_stemmer, "porter"):
        _stemmer.porter = Stemmer.Stemmer("porter", 0)
    return str(_stemmer.porter.stemWord(word))


def words(text: str) -> Iterator[str]:
    """The words of `text`, casefolded, function words left out."""
    folded = text.casefold()
    plain = folded.isascii()
    for word in _WORD.findall(folded if plain else folded.replace("’", "'")):
        if not plain and _UNSPACED.search(word):
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS:
            yield word.removesuffix("'s")


def stems(text: str) -> list[str]:
    """The stemmed words of `text`, in order, repeats included."""
    return [_stem(word) for word in words(text)]


def lexical_text(content: str, speaker: str | None, created_at: float) -> str:
    """What is matched by words: when it was said (Unix seconds), by whom, and what."""
    said = _date(min(int(created_at // 86_400), _LAST_DAY))
    return f"{said} {speaker}: {content}" if speaker else f"{said}: {content}"


@lru_cache(maxsize=16_384)
def _date(day: int) -> str:
    date = datetime.fromtimestamp(day * 86_400, UTC)
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def embedded_text(content: str, speaker: str | None) -> str:
    """What is matched by meaning: by whom it was said, and what."""
    return f"{speaker}: {content}" if speaker else content


def figures(text: str) -> frozenset[str]:
    """Numbers, months and weekdays in `text`: the values by which two statements may differ."""
    return frozenset(_FIGURE.findall(text.casefold()))
