"""Scores of memories for a question: pure functions on columns.

    base    = a * cosine + (1 - a) * BM25                          both absolute, in [0, 1]
    match   = base + context + speaker + voice + time - asks - outdated     scaled to [0, 1]
    score   = match * (1 - w + w * relevance)

Cosine blends that of the nearest sentence, which carries the statement, with that of the nearest
window, which carries its subject.

Messages of a conversation explain each other: the words of a question find its answer, and a
session with one memory on the subject probably has more. So a memory's neighbours in its session,
the question right before it, and the best memory of its session each add part of their base score
to its context. A memory outside any session gets the same shares of its own score, so that dialogue
has no advantage over isolated facts.

Questions in the first person prefer the user's own messages to those addressed to the user;
questions that name a time prefer messages of that time. Messages that are questions themselves rank
lower, and so do facts that carry what they answer, as half of their words are another's, and
messages from which a superseded fact was drawn, unless the question is about the past.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain import decay
from semantic_memory.retrieval.bm25 import Mask, Scores
from semantic_memory.retrieval.growing import Columns

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the parts of a match, relative to the base score (1).

    Defaults are in `RetrievalSettings`.
    """

    dense: float
    """a above: share of the cosine in the base score; the rest is BM25."""
    sentence: float
    """Share of the nearest sentence in the cosine; the rest is the nearest window."""
    neighbour: float
    """Weight of the better of the two neighbouring messages."""
    answer: float
    """Weight of the message before it, if that is a question."""
    session: float
    """Weight of the best message of its session."""
    speaker: float
    """Bonus for a speaker that the question names."""
    voice: float
    """Bonus for the user's own words, if the question is in the first person."""
    time: float
    """Bonus for the time that the question names."""
    asks: float
    """Penalty of a memory that is a question, or carries what it answers."""
    outdated: float
    """Share of its match that a message loses if a superseded fact was drawn from it."""
    relevance: float
    """w above: share of the score that depends on confidence, importance and age."""

    @property
    def lent(self) -> float:
        """The highest context, relative to the base score."""
        return self.neighbour + self.answer + self.session

    @property
    def total(self) -> float:
        """The highest match before scaling."""
        return 1.0 + self.lent + self.speaker + self.voice + self.time


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for each row as an answer to a question; arrays of shape (rows,)."""

    dense: Scores
    """Cosine, in [-1, 1]."""
    lexical: Scores
    """BM25, in [0, 1]."""
    named: Mask
    """True if the question names the speaker."""
    own: Mask
    """True if the user said it and the question is in the first person."""
    timely: Reals
    """Closeness to the question's times, in [0, 1]."""
    outdated: Mask
    """True if a superseded fact was drawn from it and the question is about the present."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of all rows and their parts; arrays of shape (rows,)."""

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
    standing: Reals
    relevance: Reals
    asked: Reals
    """Additions to the score, made afterwards."""


def base_score(dense: Scores, lexical: Scores, weights: Weights) -> Reals:
    """Return the base score, in [0, 1]."""
    meaning = weights.dense * np.maximum(dense, 0.0).astype(np.float64)
    return meaning + (1.0 - weights.dense) * lexical


def lent(
    base: Reals,
    admitted: Mask,
    columns: Columns,
    slots: NDArray[Any],
    sessions: int,
    weights: Weights,
) -> Reals:
    """Return the context of each row; that of a row outside any session is its own score."""
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
    columns: Columns,
    slots: NDArray[Any],
    sessions: int,
    half_lives: Reals,
    now: float,
    weights: Weights,
    curve: decay.Curve = decay.CURVE,
    floors: Reals | None = None,
    priors: Reals | None = None,
) -> Ranked:
    """Score every row.

    `columns`, `slots` and `sessions` are a partition's; `half_lives` hold each row's half-life in
    days, `floors` its lowest retention, by default the curve's, and `priors` the weight of its
    category, by default 1; `now` is in Unix seconds.
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
    retention = decay.retention(age, half_lives * columns["endurance"], curve, floors)
    boost = decay.recency(age, decay.age_days(columns["used_at"], now), curve)
    recency = np.where(np.isfinite(half_lives), boost, 1.0)
    standing = decay.confirmation(columns["corroborations"])
    standing = standing if priors is None else standing * priors
    relevance = columns["importance"] * columns["confidence"] * retention * recency * standing
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
        standing=standing,
        relevance=relevance,
        asked=np.zeros_like(score),
    )
