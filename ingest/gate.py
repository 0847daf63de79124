"""Decides which candidates become facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from semantic_memory.models import Candidate, Category


@dataclass(frozen=True, slots=True)
class Gate:
    """Keeps out what is too uncertain to be believed; its message stays findable all the same."""

    min_confidence: float = 0.7

    def admit(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], Counter[str]]:
        """The candidates that may become facts, and how many were refused, by reason."""
        admitted: list[Candidate] = []
        refused: Counter[str] = Counter()
        for candidate in candidates:
            reason = self._objection(candidate)
            if reason is None:
                admitted.append(candidate)
            else:
                refused[reason] += 1
        return admitted, refused

    def _objection(self, candidate: Candidate) -> str | None:
        if candidate.confidence < self.min_confidence:
            return "confidence"
        if candidate.category is Category.CONVERSATION:
            return "category"  # kept for the messages themselves
        return None
