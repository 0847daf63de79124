"""Explain how firmly a memory still stands, and which memories it replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping

from semantic_memory.application.lookup import one_fact
from semantic_memory.domain import decay
from semantic_memory.domain.facts import Category, Explanation
from semantic_memory.domain.messages import SessionOptions
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.requests import ExplainRequest
from semantic_memory.pipeline.session_records import fading_of

_OPTIONS = SessionOptions()


class Explain:
    """Compute the retention of single memories. Thread-safe.

    `half_lives` are those of the categories, in days.
    """

    def __init__(self, ledger: Ledger, half_lives: Mapping[Category, float], clock: Clock) -> None:
        self._ledger = ledger
        self._half_lives = half_lives
        self._clock = clock

    def explain(self, asked: ExplainRequest) -> Explanation:
        """Return a memory with its retention and its replacements. Raises NotFoundError."""
        fact = one_fact(self._ledger, asked.fact_id, asked.user_id)
        lasts = decay.endurance(fact.use_count, len(fact.corroborations), fact.tags)
        session = fact.source.session_id
        own = fading_of(self._ledger, fact.user_id).get(session or "", _OPTIONS)
        half_life = own.half_life_days.get(fact.category, self._half_lives[fact.category]) * lasts
        floor = decay.FLOOR if own.floor is None else own.floor
        stated = max(fact.created_at, fact.confirmed_at or fact.created_at)
        age = decay.age_days(stated.timestamp(), self._clock.now().timestamp())
        by = [fact.superseded_by] if fact.superseded_by else []
        replaced_by = self._ledger.get(by, fact.user_id)
        return Explanation(
            fact=fact,
            half_life_days=None if math.isinf(half_life) else half_life,
            retention=float(decay.retention(age, half_life, floor)),
            replaced_by=replaced_by[0] if replaced_by else None,
            replaced=tuple(self._ledger.replaced(fact.id, fact.user_id)),
        )
