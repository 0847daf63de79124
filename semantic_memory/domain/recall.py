"""What recall returns: hits with the parts of their scores, and blocks for prompts."""

from __future__ import annotations

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.values import Value


class ScoreParts(Value):
    """Why a hit ranked where it did. `match` is made of the parts above it."""

    dense: float
    """Cosine of the query to the memory's nearest window and nearest sentence, blended, -1 to 1;
    0 while it isn't embedded."""
    lexical: float
    """BM25 over the highest BM25 that any text could reach for this query, 0 to 1."""
    context: float
    """What the neighbouring messages and the session lend."""
    speaker: float
    """What being said by someone named in the query adds."""
    voice: float
    """What being said by the user adds, where the query speaks of I and my."""
    time: float
    """What being said at the time that the query speaks of adds."""
    asks: float
    """What being a question itself takes away."""
    outdated: float = 0.0
    """What telling what no longer holds takes away from a message."""
    match: float
    """All of the above, 0 to 1."""
    importance: float
    confidence: float
    retention: float
    """What time has left of it: 2^(-age / half-life), at least 0.1."""
    recency: float
    """1.0 (old) to 1.5 (just now)."""
    relevance: float
    """importance * confidence * retention * recency."""
    newer: float = 0.0
    """What the score gains, besides, over an older fact that gives another figure for the same."""


class Hit(Value):
    """A recalled memory, its score (higher is better) and the reasons."""

    fact: Fact
    score: float
    parts: ScoreParts


class Context(Value):
    """A block of memory ready to be put into a prompt."""

    text: str
    tokens: int
    """Exact count of `text`; never over the budget that was asked for."""
    facts: tuple[Fact, ...] = ()
    """What the block holds, in its order: number n in the block is `facts[n - 1]`."""
    hits: tuple[Hit, ...]
    """Those of them that were recalled for the question, in the same order."""
    left_out: int
    """How many more memories matched well enough and did not fit."""
