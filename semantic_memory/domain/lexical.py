"""Words of a memory as a condition: whole words, patterns of words, and phrases.

Text is compared without case, accents and marks: it is decomposed (NFKD), its marks are dropped,
and what remains is casefolded and cut into runs of letters and digits. Scripts written without
spaces are cut into single characters, so that a word of theirs is found inside a text. Unlike the
words of a question, those of a condition are neither stemmed nor left out.

In a word, `*` stands for any letters and digits, or none, and `?` for one, unless it ends the word:
there it is a question mark. A pattern that doesn't
begin with letters is compared with each word of the user's memories, so it has limits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

LONGEST = 64
"""Characters of a word that count."""
MOST_WORDS = 32
"""Words of one phrase."""
LEAST_LETTERS = 2
"""Letters and digits that a word with `?`, or with a `*` before its end, needs beside these."""
MOST_STARS = 3
"""Number of `*` in one word."""

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f"
_TOKEN = regex(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_PATTERN = regex(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[*?])+")
_WILD = regex("[*?]")
_MARK = regex(r"\?+(?![\w*?])")  # a question mark, which ends a word


@dataclass(frozen=True, slots=True)
class Term:
    """Words that follow each other; of the last one, `open_ended` needs the beginning only.

    If `is_pattern`, the words may hold `*` and `?`.
    """

    words: tuple[str, ...]
    open_ended: bool = False
    is_pattern: bool = False


def tokens(text: str) -> list[str]:
    """Return the words of a text, in order.

    >>> tokens("Café-owner's WEB apps, 東京")
    ['cafe', 'owner', 's', 'web', 'apps', '東', '京']
    """
    return [word[:LONGEST] for word in _TOKEN.findall(_folded(text))]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    marked = unicodedata.normalize("NFKD", text)
    return "".join(one for one in marked if not unicodedata.combining(one)).casefold()


@lru_cache(maxsize=256)
def term(written: str) -> Term:
    """Return the term that `auth`, `*script`, `a?th*` or `web apps` stands for.

    Raises InvalidInputError.
    """
    asked = _MARK.sub("", written)
    plain = asked.removesuffix("*")
    is_pattern = _WILD.search(plain) is not None
    if is_pattern:
        words = tuple(_PATTERN.findall(_folded(asked)))
        for word in words:
            _check_pattern(word)
    else:
        words = tuple(tokens(plain))
    if not words:
        raise InvalidInputError(f"{written!r} holds no letter or digit to look for")
    if len(words) > MOST_WORDS:
        raise InvalidInputError(
            f"a phrase may have {MOST_WORDS} words, this one has {len(words)}: {written[:40]!r}..."
        )
    if is_pattern:
        return Term(words, is_pattern=True)
    return Term(words, open_ended=plain != asked)


def _check_pattern(word: str) -> None:
    letters = _WILD.sub("", word)
    is_beginning = bool(letters) and not _WILD.search(word.removesuffix("*"))
    if len(word) > LONGEST:
        raise InvalidInputError(
            f"{word[:20]!r}...: a word with * or ? has at most {LONGEST} characters"
        )
    if len(letters) < LEAST_LETTERS and letters != word and not is_beginning:
        raise InvalidInputError(
            f"{word!r} would match nearly every word: give it {LEAST_LETTERS} letters or digits"
            " beside * and ?"
        )
    if word.count("*") > MOST_STARS:
        raise InvalidInputError(
            f"{word!r} has more than {MOST_STARS} *: write a shorter part of it"
        )


def holds(words: Sequence[str], wanted: Term) -> bool:
    """Return True if a text with these words, in order, holds the term.

    >>> holds(["web", "apps"], term("web app*")), holds(["web", "apps"], term("apps web"))
    (True, False)
    >>> holds(["typescript"], term("*script")), holds(["authn"], term("au?h"))
    (True, False)
    """
    if wanted.is_pattern:
        return _matcher(wanted.words)(words)
    *first, last = wanted.words
    for start in range(len(words) - len(first)):
        end = start + len(first)
        found = words[end]
        if list(words[start:end]) == first and (
            found == last or (wanted.open_ended and found.startswith(last))
        ):
            return True
    return False


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Callable[[Sequence[str]], bool]:
    """Return the test of whether words hold others in order that match patterns."""
    tests = [regex(pattern_of(word, "[^ ]")).fullmatch for word in patterns]

    def matches(words: Sequence[str]) -> bool:
        starts = range(len(words) - len(tests) + 1)
        return any(all(test(words[at + n]) for n, test in enumerate(tests)) for at in starts)

    return matches


def pattern_of(word: str, letter: str, spell: Callable[[str], str] = str) -> str:
    """Return the regular expression of a word with `*` and `?`.

    `letter` matches one letter, and `spell` spells what stands between.
    """
    parts = re.split("([*?])", word)
    wild = {"*": f"{letter}*", "?": letter}
    return "".join(wild.get(part) or re.escape(spell(part)) for part in parts)
