"""Recognise the tense and the voice of a folded text."""

from __future__ import annotations

from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_PAST = regex(rf"\b(?:{phrases('tenses.past')}|[a-z]{{2,}}ed)\b")


def is_past(folded: str) -> bool:
    """Return whether a text mentions the past.

    >>> is_past("i painted"), is_past("i paint")
    (True, False)
    """
    return _PAST.search(folded) is not None
