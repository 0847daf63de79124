"""Prepare the text of a memory for search: the text to embed, the words to match.

Words are Unicode runs of letters and digits, casefolded, without function words, stemmed by
Porter's algorithm (the Snowball project's `porter`, which SQLite's FTS5 uses as well). Scripts
written without spaces, and Korean, are cut into overlapping pairs of characters. A text in another
language than English is found by its words' Snowball stems in that language as well, each with a
mark of it: a question in the same language has the same ones.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

import Stemmer

from semantic_memory.domain.english.calendar import MONTHS, SHORT_MONTHS, WEEKDAY, written
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import words as words_of
from semantic_memory.domain.language import language
from semantic_memory.domain.languages import function_words
from semantic_memory.domain.patterns import regex

_WORD = regex(r"[^\W_]+(?:'[^\W_]+)?")
_SYLLABLES = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f\uac00-\ud7af"
_UNSPACED = regex(rf"[{_SYLLABLES}]")
_RUN = regex(rf"[{_SYLLABLES}]+|[^{_SYLLABLES}]+")
_SYLLABLE_RUN = regex(rf"[{_SYLLABLES}]+")

STOP_WORDS = words_of("words.stop_words")
"""Function words, which are neither indexed nor matched."""

# "may" is a verb more often than a month
_MONTH = one_of({*(month.lower() for month in MONTHS), *SHORT_MONTHS} - {"may"})
_FIGURE = regex(rf"\d+(?:[.,:]\d+)*|\b{_MONTH}\b|\b{WEEKDAY}")

_LAST_DAY = 2_932_896  # 31 December 9999, which as Unix seconds is rounded up to the next

_LONGEST_CACHED = 2_000  # characters

_SNOWBALL = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
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
            for run in _RUN.findall(word):
                yield from _pairs(run) if _UNSPACED.match(run) else (run,)
        elif word not in STOP_WORDS:
            yield word.removesuffix("'s")


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(max(1, len(run) - 1))]


def own_stems(text: str) -> list[str]:
    """Return the stems of a text in its own language, marked with its code; none of an English one.

    >>> own_stems("Wir wohnten in Kassel"), own_stems("We lived in Kassel")
    (['wohnt0de', 'kassel0de'], [])
    """
    code = language(text)
    stemmer = _SNOWBALL.get(code or "")
    if stemmer is None or code is None:
        return []
    left_out = function_words(code)
    spoken = [word for word in words(text) if word not in left_out]
    return [f"{_snowball(stemmer, word)}0{code}" for word in spoken]


@lru_cache(maxsize=16_384)
def _snowball(algorithm: str, word: str) -> str:
    if not hasattr(_stemmer, algorithm):
        setattr(_stemmer, algorithm, Stemmer.Stemmer(algorithm, 0))
    return str(getattr(_stemmer, algorithm).stemWord(word))


def searched_words(text: str) -> list[str]:
    """Return the words to search a question's words by: its own, and the stems of its language."""
    return [*words(text), *own_stems(text)]


def stems(text: str) -> list[str]:
    """Return the stemmed words of `text`, in order, repeats included."""
    return [_porter(word) for word in words(text)]


def stem_set(text: str) -> frozenset[str]:
    """Return the stemmed words of `text`, without repeats; of texts read before from a cache."""
    # a long one, of up to a megabyte, would fill the cache alone
    return _stems_once(text) if len(text) <= _LONGEST_CACHED else frozenset(stems(text))


@lru_cache(maxsize=16_384)
def _stems_once(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a word's stem; a function word is its own.

    >>> stem("painting"), stem("the")
    ('paint', 'the')
    """
    return next(iter(stems(word)), word)


def lexical_text(content: str, speaker: str | None, created_at: float) -> str:
    """Return the text to match words in: its date (from Unix seconds), its speaker, its content."""
    said = _date(min(int(created_at // 86_400), _LAST_DAY))
    content = matchable(content)
    return f"{said} {speaker}: {content}" if speaker else f"{said}: {content}"


def matchable(content: str) -> str:
    """Return a text as its words are indexed; an English one as it is.

    >>> matchable("Wir wohnten hier"), matchable("我住在 Kassel")
    ('Wir wohnten hier wohnt0de hier0de', '我住 住在 Kassel')
    """
    spaced = content
    if not content.isascii() and _UNSPACED.search(content):
        spaced = _SYLLABLE_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", content)
        spaced = " ".join(spaced.split())
    return " ".join((spaced, *own_stems(content)))


@lru_cache(maxsize=16_384)
def _date(day: int) -> str:
    return written(datetime.fromtimestamp(day * 86_400, UTC))


def embedded_text(content: str, speaker: str | None) -> str:
    """Return the text to embed: its speaker and its content."""
    return f"{speaker}: {content}" if speaker else content


def figures(text: str) -> frozenset[str]:
    """Return the numbers, months and weekdays of `text`, by which two statements may differ."""
    return frozenset(_FIGURE.findall(text.casefold()))
