"""How two statements stand to each other, and who decides it.

same         they say one thing: may be merged
refines      one says more than the other: both stay
updates      the newer replaces the older: something has changed
contradicts  they can't both hold, and nothing says that something changed
unrelated    all else: lists, different events, different subjects
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from semantic_memory.domain.facts import Fact


class Relation(StrEnum):
    """What the newer of two statements is to the older."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    UPDATES = "updates"
    REFINES = "refines"
    UNRELATED = "unrelated"

    @property
    def conflicting(self) -> bool:
        """Whether only one of the two statements can be believed."""
        return self in (Relation.CONTRADICTS, Relation.UPDATES)


class Pair(NamedTuple):
    """Two facts of one user, the older first, and the cosine similarity of their vectors."""

    older: Fact
    newer: Fact
    similarity: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided, why, and how surely (0 to 1)."""

    relation: Relation
    reasons: tuple[str, ...] = ()
    certainty: float = 1.0


class RelationJudge(Protocol):
    """Decides how pairs of facts stand to each other."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict for each pair, in order. Must not depend on the other pairs.

        Raises ProviderError if a remote model fails.
        """
        ...


def in_order(a: Fact, b: Fact) -> tuple[Fact, Fact]:
    """The two facts, the one that was said first in front."""
    return (a, b) if said_at(a) <= said_at(b) else (b, a)


def said_at(fact: Fact) -> tuple[float, float, int, str]:
    """Sorts facts into the order in which they were said."""
    position = fact.source.position
    return (
        fact.created_at.timestamp(),
        fact.recorded_at.timestamp(),
        -1 if position is None else position,
        fact.id,
    )
