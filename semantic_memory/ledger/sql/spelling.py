"""Words as they are written, spelled in letters and digits that no tokenizer changes."""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.lexical import Term, pattern_of, tokens
from semantic_memory.domain.patterns import regex

_OTHER = regex("[^a-y0-9]")
_LETTER = "(?:z[0-9a-f]{6}|[a-y0-9])"


def written(text: str) -> str:
    """Return the words of a text as full-text indexes hold them."""
    return " ".join(map(spelled, tokens(text)))


@lru_cache(maxsize=65_536)
def spelled(word: str) -> str:
    """Spell a word in ASCII, character by character, so that a beginning stays a beginning."""
    return _OTHER.sub(lambda found: f"z{ord(found[0]):06x}", word)


def expression(term: Term) -> str:
    """Return the regular expression of a term of patterns, over written words between spaces.

    SQLite (by Python) and PostgreSQL read it alike.
    """
    return f" {' '.join(pattern_of(word, _LETTER, spelled) for word in term.words)} "


def beginnings(term: Term) -> list[tuple[str, bool]]:
    """Return what stands before the first `*` or `?` of each word, and if that is all of it.

    Words that begin with one of these are left out.
    """
    parts = ((word, word.replace("?", "*").partition("*")[0]) for word in term.words)
    return [(spelled(first), first == word) for word, first in parts if first]


def longest_part(term: Term) -> str:
    """Return the longest part of a term of patterns without `*` and `?`, spelled."""
    return max((spelled(one) for word in term.words for one in re.split("[*?]", word)), key=len)
