"""Recognise jests: exaggerations, and things told as if they were people."""

from __future__ import annotations

import re

from semantic_memory.domain.english.tables import phrases, phrases_with_choices
from semantic_memory.domain.patterns import regex

_JOKE = regex(rf"\b{phrases('jests.jokes')}\b", re.IGNORECASE)
_JEST = regex(rf"\b{phrases_with_choices('jests.jests')}\b", re.IGNORECASE)
_LONGEST = 100  # characters


def is_jest(sentence: str) -> bool:
    """Return True if a sentence is a jest, or of a made-up figure.

    >>> is_jest("our printer hates me"), is_jest("our printer prints on both sides")
    (True, False)
    """
    if _JOKE.search(sentence):
        return True
    return len(sentence) <= _LONGEST and _JEST.search(sentence) is not None
