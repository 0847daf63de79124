"""Results of recall: hits with the parts of their scores, and context blocks."""

from __future__ import annotations

from typing import Literal

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.values import Identifier, Timestamp, Value


class ScoreParts(Value):
    """Parts of a hit's score. `match` is made of the parts above it."""

    dense: float
    """Cosine of the query to the memory's nearest window and nearest sentence, blended, -1 to 1;
    of a memory that isn't embedded yet, its `lexical`."""
    lexical: float
    """BM25 divided by the highest BM25 that any text could reach for this query, 0 to 1."""
    context: float
    """Gain from the neighbouring messages and the session."""
    speaker: float
    """Gain of a message whose speaker the query names."""
    voice: float
    """Gain of a message by the user, if the query is in the first person."""
    time: float
    """Gain of a memory whose time fits a time expression in the query."""
    asks: float
    """Loss of a memory that is itself a question."""
    outdated: float = 0.0
    """Loss of a message that states a superseded fact."""
    match: float
    """Match with the query by all of the above, scaled to 0 to 1."""
    importance: float
    confidence: float
    retention: float
    """2^(-age / half-life), at least 0.1."""
    recency: float
    """Boost for recent memories of categories that fade, 1.0 (old) to 1.5 (just now)."""
    standing: float = 1.0
    """Weight of its category, times up to 1.3 for a memory that was stated again."""
    relevance: float
    """importance * confidence * retention * recency * standing."""
    asked: float = 0.0
    """Addition to the score of a fact that states the attribute that the query asks for."""
    newer: float = 0.0
    """Addition to the score that ranks it above an older fact about the same, or where a
    message would stand that it made outdated."""


class Hit(Value):
    """A recalled memory with its score (higher is better) and the parts of the score."""

    fact: Fact
    score: float
    parts: ScoreParts
    reranked: float | None = None
    """The reranker's score, by which it was reordered; None without one."""
    changed: Timestamp | None = None
    """Time from which a statement in a message no longer held; None if all still do."""
    space: Identifier | None = None
    """The further user, such as a team, whose memory it is; None for the user's own."""


Omission = Literal["budget", "repeats", "weak", "other topic", "superseded"]
"""Reason why a memory isn't in a block: no room was left; other lines say it; it isn't worth its
tokens; it shares nothing with the question or with better memories; it no longer holds."""


class LeftOut(Value):
    """A memory that was found for the question and isn't in the block."""

    fact: Fact
    score: float
    reason: Omission


class Context(Value):
    """A context block, ready to be put into a prompt."""

    text: str
    tokens: int
    """Exact number of tokens of `text`; never more than the budget."""
    facts: tuple[Fact, ...] = ()
    """Facts of the block in its order: entry n of the block is `facts[n - 1]`."""
    hits: tuple[Hit, ...]
    """Hits among them, which were recalled for the question, in the same order."""
    left_out: tuple[LeftOut, ...] = ()
    """The best of the memories that were found and aren't in it, at most twenty, best first."""
    omitted: int = 0
    """Number of memories that were worth their tokens and did not fit."""
    relevance: float = 0.0
    """Distance of the best match from the floor below which nothing is relevant, 0 to 1; at 0 the
    block has only what is shown whatever the question."""
