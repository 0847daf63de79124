"""Tag a fact with the few things that it names: proper names, and nouns."""

from __future__ import annotations

import re

from semantic_memory.domain.english.calendar import MONTHS, WEEKDAYS
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import WORD, noun_behind
from semantic_memory.domain.text import STOP_WORDS

_MOST_TAGS = 4
_NO_TAGS = STOP_WORDS | words("tags.no_tags")
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))


def tags(content: str, name: str) -> tuple[str, ...]:
    """Return the first few things that a fact names: proper names, and nouns."""
    own = set(WORD.findall(name.casefold()))
    found: dict[str, None] = {}
    spoken = WORD.findall(content)
    for place, word in enumerate(spoken):
        plain = word.removesuffix("'s")
        proper = place > 0 and plain[:1].isupper() and plain not in _CALENDAR
        tag = plain.casefold() if proper else noun_behind(spoken[place - 1] if place else "", plain)
        if tag and tag not in own and tag not in _NO_TAGS and re.fullmatch(r"[\w-]{3,40}", tag):
            found[tag] = None
    return tuple(found)[:_MOST_TAGS]
