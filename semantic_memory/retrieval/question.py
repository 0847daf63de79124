"""Reading of a question: its words, whether it is about the user, and its times."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from semantic_memory.domain.english.windows import Window, windows
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import own_stems, stem, stems

# "us" in capitals is a country, "I" in lower case a habit.
_FIRST_PERSON = regex(r"\b(?:(?i:i|i['’]\w+|my|mine|me|myself|we|we['’]\w+|our|ours)|us)\b")
_WHEN = regex(r"\s*when\b", re.IGNORECASE)
_PAST = regex(r"\b(?:did|was|were|had)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, prepared for search."""

    text: str
    stems: tuple[str, ...]
    about_me: bool
    """True if the question is in the first person."""
    windows: list[Window]
    """Times that the question names; empty if none."""
    past: bool
    """True if it asks about an earlier time."""
    event: bool
    """True if it asks for an event rather than for a present state."""


def read(text: str, now: datetime) -> Question:
    """Read a question asked at `now`."""
    return replace(_timeless(text), windows=windows(text, now))


@lru_cache(maxsize=256)  # a request reads its question more than once
def _timeless(text: str) -> Question:
    about_me = _FIRST_PERSON.search(text) is not None
    past = _PAST.search(text) is not None
    return Question(
        text=text,
        stems=(*stems(text), *map(stem, own_stems(text))),
        about_me=about_me,
        windows=[],
        # the user's own dates are deadlines and appointments, other people's are past events
        past=past,
        event=past or (_WHEN.match(text) is not None and not about_me),
    )
