"""How well each memory answers a query: pure functions on columns.

    base    = a * cosine + (1 - a) * BM25                          both absolute, in [0, 1]
    match   = base + context + speaker + voice + time - asks - outdated     scaled to [0, 1]
    score   = match * (1 - w + w * relevance)

Cosine is that of the nearest sentence and of the nearest window, blended: the sentence says it, the
window says what it is about.

Messages of a conversation explain each other: the answer to a question is found by the question,
and a session about the subject is likelier to hold more of it. So a memory's neighbours in its
session, the question right before it, and the best memory of its session lend it part of their base
score. A memory that stands alone is lent its own, so that dialogue has no advantage over isolated
facts.

Who asks about themselves is answered by what they said, rather than by what they were told; a
question that speaks of a time, by what was said about then. A question is rarely an answer, nor is
a message that told what no longer holds, unless the past is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain import decay
from semantic_memory.retrieval.bm25 import Mask, Scores

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much, relative to a memory's own words and meaning (1)."""

    dense: float = 0.55
    """a above: the share of meaning in the base score; the rest is words."""
    sentence: float = 0.8
    """Share of the nearest sentence in the cosine; the rest is the nearest window."""
    neighbour: float = 0.3
    """What the better of the two messages next to it lends."""
    answer: float = 0.15
    """What the message before it lends, if that is a question."""
    session: float = 0.35
    """What the best message of its session lends."""
    speaker: float = 0.2
    """For being said by someone whom the question names."""
    voice: float = 0.12
    """For being said by the user, where the question speaks of I and my."""
    time: float = 0.3
    """For being said at the time that the question speaks of."""
    asks: float = 0.03
    """Against a memory that is itself a question."""
    outdated: float = 0.5
    """Share of its match that a message loses which told what no longer holds."""
    relevance: float = 0.1
    """w above: how much confidence and age may move a memory."""

    @property
    def lent(self) -> float:
        """The most that the conversation around a memory can lend it."""
        return self.neighbour + self.answer + self.session

    @property
    def total(self) -> float:
        """The highest match before scaling."""
        return 1.0 + self.lent + self.speaker + self.voice + self.time


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each row as an answer to a question; arrays of shape (rows,)."""

    dense: Scores
    """Cosine, in [-1, 1]."""
    lexical: Scores
    """BM25, in [0, 1]."""
    named: Mask
    """Said by someone whom the question names."""
    own: Mask
    """Said by the user, and the question is about them."""
    timely: Reals
    """How well when it was said fits the question's time, in [0, 1]."""
    outdated: Mask
    """Told what no longer holds, and the question is for what does."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of all rows, with what they are made of; arrays of shape (rows,)."""

    score: Reals
    dense: Scores
    lexical: Scores
    context: Reals
    speaker: Reals
    voice: Reals
    time: Reals
    asks: Reals
    outdated: Reals
    match: Reals
    retention: Reals
    recency: Reals
    relevance: Reals


def base_score(dense: Scores, lexical: Scores, weights: Weights) -> Reals:
    """Meaning and words, in [0, 1]."""
    meaning = weights.dense * np.maximum(dense, 0.0).astype(np.float64)
    return meaning + (1.0 - weights.dense) * lexical


def lent(
    base: Reals,
    admitted: Mask,
    columns: NDArray[Any],
    slots: NDArray[Any],
    sessions: int,
    weights: Weights,
) -> Reals:
    """What the conversation around each row lends it; a row without one is lent its own score."""
    context = base * weights.lent
    placed = columns["slot"] >= 0
    if not placed.any():
        return context
    # One place more than there are, so that "no neighbour" (-1) reads a zero.
    by_slot = np.zeros(len(slots) + 1)
    speaking = placed & admitted
    np.maximum.at(by_slot, columns["slot"][speaking], base[speaking])
    before, behind = by_slot[slots["before"]], by_slot[slots["behind"]]
    asked = before * np.append(slots["asks"], False)[slots["before"]]
    by_session = np.zeros(sessions)
    np.maximum.at(by_session, slots["session"], by_slot[:-1])
    total = (
        weights.neighbour * np.maximum(before, behind)
        + weights.answer * asked
        + weights.session * by_session[slots["session"]]
    )
    context[placed] = total[columns["slot"][placed]]
    return context


def rank(
    evidence: Evidence,
    admitted: Mask,
    columns: NDArray[Any],
    slots: NDArray[Any],
    sessions: int,
    half_lives: Reals,
    now: float,
    weights: Weights,
) -> Ranked:
    """Score every row.

    `columns`, `slots` and `sessions` are a partition's; `half_lives` holds the half-life of each
    row's category in days; `now` is in Unix seconds.
    """
    total = weights.total
    base = base_score(evidence.dense, evidence.lexical, weights)
    context = lent(base, admitted, columns, slots, sessions, weights) / total
    speaker = weights.speaker / total * evidence.named.astype(np.float64)
    voice = weights.voice / total * evidence.own.astype(np.float64)
    time = weights.time / total * evidence.timely
    asks = weights.asks / total * columns["asks"].astype(np.float64)
    whole = np.maximum(0.0, base / total + context + speaker + voice + time - asks)
    outdated = weights.outdated * whole * evidence.outdated
    match = whole - outdated
    age = decay.age_days(columns["stated_at"], now)
    retention = decay.retention(age, half_lives * columns["endurance"])
    recency = decay.recency(age)
    relevance = columns["importance"] * columns["confidence"] * retention * recency
    score = match * (1.0 - weights.relevance + weights.relevance * relevance)
    return Ranked(
        score=score,
        dense=evidence.dense,
        lexical=evidence.lexical,
        context=context,
        speaker=speaker,
        voice=voice,
        time=time,
        asks=asks,
        outdated=outdated,
        match=match,
        retention=retention,
        recency=recency,
        relevance=relevance,
    )
