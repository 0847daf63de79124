"""Names of the people in a conversation, found in a question.

All messages of a speaker carry the speaker's name, so the name doesn't tell them apart, and in a
sentence embedding it outweighs the words that do. Speakers are therefore matched by a column, and
their names are removed from the text that is embedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_memory.domain.patterns import regex

_PART = regex(r"[^\W\d_]{2,}")


def named(query: str, speakers: Sequence[str]) -> list[int]:
    """Return the positions in `speakers` of the people that the query names, in whole or part."""
    spoken = {part.casefold() for part in _PART.findall(query)}
    return [
        number
        for number, speaker in enumerate(speakers)
        if any(part.casefold() in spoken for part in _PART.findall(speaker))
    ]


def without(query: str, names: Sequence[str]) -> str:
    """Return the query without any part of `names`; unchanged if nothing would remain."""
    parts = {part for name in names for part in _PART.findall(name)}
    if not parts:
        return query
    pattern = rf"\b(?:{'|'.join(map(re.escape, sorted(parts)))})(?:['’]s)?\b"
    rest = " ".join(re.sub(pattern, " ", query, flags=re.IGNORECASE).split())
    return rest if _PART.search(rest) else query
