"""How well each memory answers a query: pure functions on columns.

    base    = (cosine + BM25) / 2                                  both absolute, in [0, 1]
    match   = base + what the conversation around a memory lends + speaker, scaled to [0, 1]
    score   = match * (1 - w + w * relevance)

Messages of a conversation explain each other: the answer to a question is found by the question,
and a session about the subject is likelier to hold more of it. So a memory's neighbours in its
session, the question right before it, and the best memory of its session lend it part of their base
score. A memory that stands alone is lent its own, so that dialogue has no advantage over isolated
facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory import decay
from semantic_memory.index.bm25 import Mask, Scores

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much, relative to a memory's own words and meaning (1)."""

    dense: float = 0.5
    """Share of meaning in the base score; the rest is words."""
    sentence: float = 2 / 3
    """Share of the nearest sentence in the dense score; the rest is the nearest window."""
    neighbour: float = 0.3
    answer: float = 0.15
    session: float = 0.3
    speaker: float = 0.08
    relevance: float = 0.1
    """w above: how much confidence and age may move a memory."""

    @property
    def total(self) -> float:
        """The highest match before scaling."""
        return 1.0 + self.neighbour + self.answer + self.session + self.speaker


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of all rows, with what they are made of; arrays of shape (rows,)."""

    score: Reals
    dense: Scores
    lexical: Scores
    context: Reals
    speaker: Reals
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
    everything = weights.neighbour + weights.answer + weights.session
    context = base * everything
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
    dense: Scores,
    lexical: Scores,
    named: Mask,
    admitted: Mask,
    columns: NDArray[Any],
    slots: NDArray[Any],
    sessions: int,
    half_lives: Reals,
    now: float,
    weights: Weights,
) -> Ranked:
    """Score every row.

    `named` says which rows were said by someone whom the query names; `half_lives` holds the
    half-life of each row's category in days; `now` is in Unix seconds.
    """
    base = base_score(dense, lexical, weights)
    context = lent(base, admitted, columns, slots, sessions, weights)
    speaker = weights.speaker * named.astype(np.float64)
    match = (base + context + speaker) / weights.total
    age = decay.age_days(columns["stated_at"], now)
    retention, recency = decay.retention(age, half_lives), decay.recency(age)
    relevance = columns["importance"] * columns["confidence"] * retention * recency
    score = match * (1.0 - weights.relevance + weights.relevance * relevance)
    return Ranked(
        score=score,
        dense=dense,
        lexical=lexical,
        context=context / weights.total,
        speaker=speaker / weights.total,
        match=match,
        retention=retention,
        recency=recency,
        relevance=relevance,
    )
