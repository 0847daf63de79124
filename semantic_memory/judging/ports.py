"""The two ports of judging: pairs of statements, and sentences.

A pair of an older and a newer statement of one user is

over      the newer makes the older untrue: it moved, ended, was replaced or corrected
same      the newer says nothing new about the same thing
neither   both stand

A sentence is read for what it is worth, whom it is about and what kind of statement it makes. No
other module compares statements or decides these readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.readings import Reading


class Pair(NamedTuple):
    """Two facts of one user, the older first, with the cosine similarity of their vectors."""

    older: Fact
    newer: Fact
    similarity: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The probabilities of a pair's relations, with the judge that decided and its reason."""

    over: float
    same: float
    decided_by: str
    """The judge and its version: `rules:equal-text`, `pairs-1`, `openai:gpt-4o-mini`."""
    reason: str = ""
    is_final: bool = False
    """True if the judge's word is enough, as a language model's is; else both must be near."""
    is_deferred: bool = False
    """True if a better judge couldn't be asked: the pair is to be judged again."""


class PairJudge(Protocol):
    """Judge of what newer statements do to older ones."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return a verdict for each pair, in order, and None where the judge can't read it.

        A verdict doesn't depend on other pairs. Raises ProviderError if a remote model fails.
        """
        ...


class Spoken(NamedTuple):
    """A sentence or clause, with what was said right before it."""

    text: str
    before: str = ""


class SentenceJudge(Protocol):
    """Judge of the worth and the subject of sentences."""

    def read(self, sentences: Sequence[Spoken]) -> list[Reading]:
        """Return a reading of each sentence, in order; it doesn't depend on other sentences."""
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
