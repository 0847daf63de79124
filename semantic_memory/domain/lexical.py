"""Words of a memory as a condition: whole words, beginnings of words, and phrases.

Text is compared without case, accents and marks: it is decomposed (NFKD), its marks are dropped,
and what remains is casefolded and cut into runs of letters and digits. Scripts written without
spaces are cut into single characters, so that a word of theirs is found inside a text. Unlike the
words of a question, those of a condition are neither stemmed nor left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

LONGEST = 64
"""Characters of a word that count."""
MOST_WORDS = 32
"""Words of one phrase."""

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f"
_TOKEN = regex(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Term:
    """Words that follow each other; of the last one, `open_ended` needs the beginning only."""

    words: tuple[str, ...]
    open_ended: bool = False


def tokens(text: str) -> list[str]:
    """Return the words of a text, in order.

    >>> tokens("Café-owner's WEB apps, 東京")
    ['cafe', 'owner', 's', 'web', 'apps', '東', '京']
    """
    if text.isascii():
        folded = text.lower()
    else:
        marked = unicodedata.normalize("NFKD", text)
        folded = "".join(one for one in marked if not unicodedata.combining(one)).casefold()
    return [word[:LONGEST] for word in _TOKEN.findall(folded)]


@lru_cache(maxsize=256)
def term(written: str) -> Term:
    """Return the term that `auth`, `auth*` or `web apps` stands for. Raises InvalidInputError."""
    plain = written.removesuffix("*")
    words = tuple(tokens(plain))
    if "*" in plain:
        raise InvalidInputError(
            f"{written!r}: a * can stand only at the end of a word: write auth*, not *auth or a*h"
        )
    if not words:
        raise InvalidInputError(f"{written!r} holds no letter or digit to look for")
    if len(words) > MOST_WORDS:
        raise InvalidInputError(
            f"a phrase may have {MOST_WORDS} words, this one has {len(words)}: {written[:40]!r}..."
        )
    return Term(words, open_ended=plain != written)


def holds(words: Sequence[str], wanted: Term) -> bool:
    """Return True if a text with these words, in order, holds the term.

    >>> holds(["web", "apps"], term("web app*")), holds(["web", "apps"], term("apps web"))
    (True, False)
    """
    *first, last = wanted.words
    for start in range(len(words) - len(first)):
        end = start + len(first)
        found = words[end]
        if list(words[start:end]) == first and (
            found == last or (wanted.open_ended and found.startswith(last))
        ):
            return True
    return False
