"""Names of the people in a conversation, found in a question.

Everything a person said carries that person's name, so the name says nothing about which of it is
meant; in a sentence embedding it drowns what does. A named speaker is matched apart, and the name
is left out of the text that is embedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PART = re.compile(r"[^\W\d_]{2,}")


def named(query: str, speakers: Sequence[str]) -> list[int]:
    """Which of `speakers` the query names, by any part of their name."""
    spoken = {part.casefold() for part in _PART.findall(query)}
    return [
        number
        for number, speaker in enumerate(speakers)
        if any(part.casefold() in spoken for part in _PART.findall(speaker))
    ]


def without(query: str, names: Sequence[str]) -> str:
    """The query without any part of `names`; unchanged if nothing would be left of it."""
    parts = {part for name in names for part in _PART.findall(name)}
    if not parts:
        return query
    pattern = rf"\b(?:{'|'.join(map(re.escape, sorted(parts)))})(?:['’]s)?\b"
    rest = " ".join(re.sub(pattern, " ", query, flags=re.IGNORECASE).split())
    return rest if _PART.search(rest) else query
