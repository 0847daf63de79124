"""Words as they are written, spelled in letters and digits that no tokenizer changes."""

from __future__ import annotations

from functools import lru_cache

from semantic_memory.domain.lexical import tokens
from semantic_memory.domain.patterns import regex

_OTHER = regex("[^a-y0-9]")


def written(text: str) -> str:
    """Return the words of a text as full-text indexes hold them."""
    return " ".join(map(spelled, tokens(text)))


@lru_cache(maxsize=65_536)
def spelled(word: str) -> str:
    """Spell a word in ASCII, character by character, so that a beginning stays a beginning."""
    return _OTHER.sub(lambda found: f"z{ord(found[0]):06x}", word)
