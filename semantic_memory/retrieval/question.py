"""What a question asks for: by which words, about whom, and about when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from semantic_memory.domain.text import stems
from semantic_memory.retrieval.times import Window, windows

# "us" in capitals is a country, "I" in lower case a habit.
_FIRST_PERSON = re.compile(r"\b(?:(?i:i|i['’]\w+|my|mine|me|myself|we|we['’]\w+|our|ours)|us)\b")
_WHEN = re.compile(r"\s*when\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is searched."""

    text: str
    stems: list[str]
    about_me: bool
    """Whether who asks speaks of themselves."""
    windows: list[Window]
    """When what it asks for was said, if it says so."""
    event: bool
    """Whether it asks for what happens once, rather than for how things stand."""


def read(text: str, now: datetime) -> Question:
    """Read a question that is asked at `now`."""
    about_me = _FIRST_PERSON.search(text) is not None
    return Question(
        text=text,
        stems=stems(text),
        about_me=about_me,
        windows=windows(text, now),
        # one's own dates are deadlines and appointments, other people's are what they told of
        event=bool(_PAST.search(text) or (_WHEN.match(text) and not about_me)),
    )
