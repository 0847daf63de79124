"""Reorder the best hits of a search by a model, timed, and failing open.

The scores stay those of the search, dealt out again in the new order: they are calibrated, and what
packs a block compares them. A model that fails leaves the order as it was.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from semantic_memory.domain.errors import ConfigurationError, ProviderError
from semantic_memory.domain.events import Reranked
from semantic_memory.domain.ports import Observer
from semantic_memory.domain.recall import Hit

_TIED = 1e-9
"""Difference of scores by which one memory is put right above another."""


class Reranker(Protocol):
    """A model that says how well texts answer a query."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, higher is better; none if it can't read the query.

        Raises ProviderError.
        """
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class Most(NamedTuple):
    """Numbers of the best hits that are reordered; 0 for none."""

    for_searches: int
    for_blocks: int


class Reranking:
    """Reorders hits by a reranker. Thread-safe if the reranker is."""

    def __init__(
        self,
        reranker: Reranker,
        most: Most,
        observe: Observer,
        *,
        blend: float | None = None,
    ) -> None:
        """With `blend` the model reads each memory behind what was said before it.

        Its score, times `blend`, is added to that of the search; else it alone decides the order.
        """
        self._reranker = reranker
        self.most = most
        self._observe = observe
        self._blend = blend

    @property
    def in_context(self) -> bool:
        """True if the model reads what was said before a memory."""
        return self._blend is not None

    def reordered(self, query: str, hits: Sequence[Hit], texts: Sequence[str]) -> list[Hit]:
        """Return hits, given best first, in the model's order of the first ones, by their `texts`.

        They stay as they are if it fails, or doesn't read the query.
        """
        best, rest = hits[: len(texts)], hits[len(texts) :]
        if len(best) < 2:  # one has no order
            return [*hits]
        start = time.perf_counter()
        try:
            scores = self._reranker.scores(query, texts)
        except (ProviderError, ConfigurationError) as error:
            self._observe(Reranked(len(best), time.perf_counter() - start, str(error)))
            return [*hits]
        if not scores:
            return [*hits]
        self._observe(Reranked(len(best), time.perf_counter() - start))
        dealt = sorted((hit.score for hit in best), reverse=True)
        worth = self._worth(dealt, scores)
        places = sorted(range(len(best)), key=lambda place: -worth[place])
        ordered = [
            best[place].model_copy(update={"score": score, "reranked": scores[place]})
            for place, score in zip(places, dealt, strict=True)
        ]
        return [*ordered, *rest]

    def _worth(self, dealt: Sequence[float], scores: Sequence[float]) -> Sequence[float]:
        """Return by what the best are ordered, given the search's scores by place, best first.

        What the search put just above another, as it is newer, stays above it.
        """
        if self._blend is None:
            return scores
        worth = [score + self._blend * own for score, own in zip(dealt, scores, strict=True)]
        for place in reversed(range(len(worth) - 1)):
            if dealt[place] - dealt[place + 1] < _TIED:
                worth[place] = max(worth[place], worth[place + 1])
        return worth
