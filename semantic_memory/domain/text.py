"""Prepare the text of a memory for search: the text to embed, the words to match.

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

from semantic_memory.domain.english.calendar import MONTHS, SHORT_MONTHS, WEEKDAY, written
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import words as words_of

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]")

STOP_WORDS = words_of("words.stop_words")
"""Function words, which are neither indexed nor matched."""

# "may" is a verb more often than a month
_MONTH = one_of({*(month.lower() for month in MONTHS), *SHORT_MONTHS} - {"may"})
_FIGURE = re.compile(rf"\d+(?:[.,:]\d+)*|\b{_MONTH}\b|\b{WEEKDAY}")

_LAST_DAY = 2_932_896  # 31 December 9999, which as Unix seconds is rounded up to the next

_stemmer = threading.local()


@lru_cache(maxsize=65_536)
def _porter(word: str) -> str:
    # A Stemmer object isn't thread-safe, so each thread has its own.
    if not hasattr(_stemmer, "porter"):
        _stemmer.porter = Stemmer.Stemmer("porter", 0)
    return str(_stemmer.porter.stemWord(word))


def words(text: str) -> Iterator[str]:
    """Yield the words of `text`, casefolded, without function words."""
    folded = text.casefold()
    plain = folded.isascii()
    for word in _WORD.findall(folded if plain else folded.replace("’", "'")):
        if not plain and _UNSPACED.search(word):
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS:
            yield word.removesuffix("'s")


def stems(text: str) -> list[str]:
    """Return the stemmed words of `text`, in order, repeats included."""
    return [_porter(word) for word in words(text)]


def stem(word: str) -> str:
    """Return a word's stem; a function word is its own.

    >>> stem("painting"), stem("the")
    ('paint', 'the')
    """
    return next(iter(stems(word)), word)


def lexical_text(content: str, speaker: str | None, created_at: float) -> str:
    """Return the text to match words in: its date (from Unix seconds), its speaker, its content."""
    said = _date(min(int(created_at // 86_400), _LAST_DAY))
    return f"{said} {speaker}: {content}" if speaker else f"{said}: {content}"


@lru_cache(maxsize=16_384)
def _date(day: int) -> str:
    return written(datetime.fromtimestamp(day * 86_400, UTC))


def embedded_text(content: str, speaker: str | None) -> str:
    """Return the text to embed: its speaker and its content."""
    return f"{speaker}: {content}" if speaker else content


def figures(text: str) -> frozenset[str]:
    """Return the numbers, months and weekdays of `text`, by which two statements may differ."""
    return frozenset(_FIGURE.findall(text.casefold()))
