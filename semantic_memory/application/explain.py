"""Explain how firmly a memory still stands, and which memories it replaced."""

from __future__ import annotations

import math

from semantic_memory.application.lookup import one_fact
from semantic_memory.consolidation.fading import Fading, half_life, retention
from semantic_memory.domain.facts import Explanation
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.requests import ExplainRequest
from semantic_memory.domain.retention import Expiry
from semantic_memory.pipeline.session_records import fading_of, own_rules
from semantic_memory.retrieval.links import standing_links
from semantic_memory.retrieval.to_review import marked


class Explain:
    """Compute the retention of single memories. Thread-safe."""

    def __init__(self, ledger: Ledger, rules: Fading, clock: Clock, expiry: Expiry) -> None:
        self._ledger = ledger
        self._expiry = expiry
        self._rules = rules
        self._clock = clock

    def explain(self, asked: ExplainRequest) -> Explanation:
        """Return a memory with its retention and its replacements. Raises NotFoundError."""
        fact = one_fact(self._ledger, asked.fact_id, asked.user_id, self._expiry.now)
        rules = own_rules(self._rules, fact, fading_of(self._ledger, fact.user_id))
        half = half_life(fact, rules)
        (fact,) = standing_links([fact], self._ledger, fact.user_id)
        (fact,) = marked([fact], self._ledger, fact.user_id, self._clock.now())
        newer = [link.newer for link in fact.perhaps_changed if link.newer]
        by = [fact.superseded_by] if fact.superseded_by else []
        replaced_by = self._ledger.get(by, fact.user_id)
        return Explanation(
            fact=fact,
            half_life_days=None if math.isinf(half) else half,
            retention=retention(fact, self._clock.now(), rules),
            replaced_by=replaced_by[0] if replaced_by else None,
            replaced=tuple(self._ledger.replaced(fact.id, fact.user_id)),
            perhaps_changed_by=tuple(self._ledger.get(newer, fact.user_id)),
        )
