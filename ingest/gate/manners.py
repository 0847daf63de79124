"""Tell whether an order is about the manner of answers: their units, language, parts."""

from __future__ import annotations

import re

from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD
from semantic_memory.domain.patterns import regex

_MANNERS = regex(
    rf"\b{phrases('manners.replies', 'manners.measures', 'manners.manners', 'manners.tongues')}\b",
    re.IGNORECASE,
)
_PRODUCED = words("manners.produced")


def is_of_manners(text: str) -> bool:
    """Return True if a text names how answers may be.

    >>> is_of_manners("prices in euros"), is_of_manners("the money")
    (True, False)
    """
    spoken = {word.lower() for word in WORD.findall(text)}
    return _MANNERS.search(text) is not None or bool(_PRODUCED & spoken)
