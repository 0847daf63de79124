"""Read facts: by the reading of their extraction, or by one made when it is asked for."""

from __future__ import annotations

from functools import lru_cache

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.text import stems
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.packaged import is_readable
from semantic_memory.judging.ports import SentenceJudge, Spoken
from semantic_memory.language.clauses import sentences
from semantic_memory.language.identity import figures, names

_IDLE = 0.9
"""Probability from which a sentence clearly concerns its moment only."""
_MOST_IDLE = 5  # content words of a message that may be thanks, praise or assent throughout
_REMEMBERED = 4_096


class FactReader:
    """Return the reading of a fact; None if it is in a language that the judge can't read."""

    def __init__(self, judge: SentenceJudge) -> None:
        self._judge = judge
        self._are_idle = lru_cache(_REMEMBERED)(self._read_as_idle)

    def __call__(self, fact: Fact) -> Reading | None:
        """Return the reading of a fact."""
        if fact.reading is not None:
            return fact.reading
        if not is_readable(fact):
            return None
        (reading,) = self._judge.read([Spoken(in_first_person(fact))])
        return reading

    def is_idle(self, message: Fact) -> bool:
        """Return True for a few words that clearly concern their moment only, as thanks do.

        Words with a name or a figure may be part of what was told before them.
        """
        text = message.content
        is_short = len(stems(text)) <= _MOST_IDLE and not names(text) and not figures(text)
        return is_short and is_readable(message) and self._are_idle(text)

    def _read_as_idle(self, text: str) -> bool:
        read = self._judge.read([Spoken(one) for one in sentences(text)])
        return bool(read) and all(1.0 - one.keep - one.task >= _IDLE for one in read)
