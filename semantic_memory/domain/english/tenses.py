"""Recognise the tense and the voice of a folded text."""

from __future__ import annotations

from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_PAST = regex(rf"\b(?:{phrases('tenses.past')}|[a-z]{{2,}}ed)\b")
_LASTING = regex(rf"\b{phrases('tenses.lasting')}\b")
_BE = r"(?:is|are|was|were|be|been|being|gets?|got)"
_PASSIVE = regex(rf"\b{_BE}\s+(?:\w+ly\s+)?(?:being\s+)?\w+\b.*\bby\b")
_RELATIVE_CLAUSE = regex(r"\b(?:which|who|that|whose)\s+(?:is|are|was|were|has|have)\b")


def is_past(folded: str) -> bool:
    """Return whether a text tells of the past.

    >>> is_past("i painted"), is_past("i paint")
    (True, False)
    """
    return _PAST.search(folded) is not None


def is_lasting(folded: str) -> bool:
    """Return whether a text tells of a state that lasts.

    >>> is_lasting("i live in oslo"), is_lasting("i arrived in oslo")
    (True, False)
    """
    return _LASTING.search(folded) is not None


def is_passive(folded: str) -> bool:
    """Return whether a text is in the passive, with the one who acts behind "by".

    >>> is_passive("the dog is chased by a cat"), is_passive("the dog chases a cat")
    (True, False)
    """
    return _PASSIVE.search(folded) is not None


def has_relative_clause(folded: str) -> bool:
    """Return whether a text has a relative clause.

    >>> has_relative_clause("a dog that is wet runs"), has_relative_clause("a wet dog runs")
    (True, False)
    """
    return _RELATIVE_CLAUSE.search(folded) is not None
