"""Relations between two statements, and the Protocol of their judges.

same         both say the same: may be merged
refines      one says more than the other: both stay
updates      the newer replaces the older: something has changed
contradicts  both can't hold, and nothing indicates a change
unrelated    anything else: items of a list, different events, different subjects
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from semantic_memory.domain.facts import Fact

RULES = "rules"
"""The judge of a verdict that no model gave."""


class Relation(StrEnum):
    """Relation of the newer of two statements to the older."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    UPDATES = "updates"
    REFINES = "refines"
    UNRELATED = "unrelated"

    @property
    def conflicting(self) -> bool:
        """True if only one of the two statements can be believed."""
        return self in (Relation.CONTRADICTS, Relation.UPDATES)


class Pair(NamedTuple):
    """Two facts of one user, the older first, with the cosine similarity of their vectors."""

    older: Fact
    newer: Fact
    similarity: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Decision of a judge, with its reasons and its certainty (0 to 1)."""

    relation: Relation
    reasons: tuple[str, ...] = ()
    certainty: float = 1.0
    judge: str = RULES
    """The rules, or the model that decided."""


class RelationJudge(Protocol):
    """Judge of the relations between pairs of facts."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return one verdict for each pair, in order. A verdict must not depend on other pairs.

        Raises ProviderError if a remote model fails.
        """
        ...


def in_order(a: Fact, b: Fact) -> tuple[Fact, Fact]:
    """Return the two facts, the one said first in front."""
    return (a, b) if said_at(a) <= said_at(b) else (b, a)


def said_at(fact: Fact) -> tuple[float, float, int, str]:
    """Return the sort key of facts in the order in which they were said."""
    position = fact.source.position
    return (
        fact.created_at.timestamp(),
        fact.recorded_at.timestamp(),
        -1 if position is None else position,
        fact.id,
    )
