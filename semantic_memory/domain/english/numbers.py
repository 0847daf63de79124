"""Tell spelled numbers from other words."""

from __future__ import annotations

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.patterns import regex

_SPELLED = regex(rf"\b{one_of(words('numbers.small', 'numbers.large'))}\b")


def is_spelled(word: str) -> bool:
    """Return whether a word in lower case is a spelled number.

    >>> is_spelled("twelve"), is_spelled("few")
    (True, False)
    """
    return _SPELLED.fullmatch(word) is not None
