"""Recognise what is denied."""

from __future__ import annotations

from collections.abc import Collection

from semantic_memory.domain.english.tables import words

NEGATIONS = words("negation.words")
"""Words that deny, in a folded text."""


def denies(spoken: Collection[str]) -> bool:
    """Return whether words of a folded text deny something.

    >>> denies("i do not smoke".split()), denies("i smoke".split())
    (True, False)
    """
    return not NEGATIONS.isdisjoint(spoken)
