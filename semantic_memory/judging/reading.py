"""Read facts: by the reading of their extraction, or by one made when it is asked for."""

from __future__ import annotations

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.readings import Reading
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.packaged import is_readable
from semantic_memory.judging.ports import SentenceJudge, Spoken


class FactReader:
    """Return the reading of a fact; None if it is in a language that the judge can't read."""

    def __init__(self, judge: SentenceJudge) -> None:
        self._judge = judge

    def __call__(self, fact: Fact) -> Reading | None:
        """Return the reading of a fact."""
        if fact.reading is not None:
            return fact.reading
        if not is_readable(fact):
            return None
        (reading,) = self._judge.read([Spoken(in_first_person(fact))])
        return reading
