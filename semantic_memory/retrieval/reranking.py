"""Reorder the best hits of a search by a model; off by default, timed, and failing open.

The scores stay those of the search, dealt out again in the model's order: they are calibrated, and
what packs a block compares them. A model that fails leaves the order as it was.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import Reranked
from semantic_memory.domain.ports import Observer
from semantic_memory.domain.recall import Hit


class Reranker(Protocol):
    """A model that says how well texts answer a query."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, higher is better. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class Reranking:
    """Reorders hits by a reranker, `most` of them at once. Thread-safe if the reranker is."""

    def __init__(self, reranker: Reranker, most: int, observe: Observer) -> None:
        self._reranker = reranker
        self.most = most
        """Number of the best hits that are reordered."""
        self._observe = observe

    def reordered(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return hits, given best first, in the model's order; as they are if it fails."""
        best, rest = hits[: self.most], hits[self.most :]
        if len(best) < 2:  # one has no order
            return [*hits]
        start = time.perf_counter()
        try:
            scores = self._reranker.scores(query, [hit.fact.text for hit in best])
        except ProviderError as error:
            self._observe(Reranked(len(best), time.perf_counter() - start, str(error)))
            return [*hits]
        self._observe(Reranked(len(best), time.perf_counter() - start))
        places = sorted(range(len(best)), key=lambda place: -scores[place])
        dealt = sorted((hit.score for hit in best), reverse=True)
        ordered = [
            best[place].model_copy(update={"score": score, "reranked": scores[place]})
            for place, score in zip(places, dealt, strict=True)
        ]
        return [*ordered, *rest]
