"""Plain methods, computed exactly: cosine, BM25, and the two usual ways to combine them.

dense     cosine of the query and the whole text, `{speaker}: {text}`
bm25      k1 = 1.2, b = 0.3, stemmed words without function words
min-max   both scaled to [0, 1] over the user's memories, then their mean
rrf       sum of 1 / (60 + rank)      Cormack et al. (2009), "Reciprocal Rank Fusion"
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, assert_never

import numpy as np

from eval.datasets import History
from eval.systems import Found
from eval.systems.documents import Reals, Shelf, shelves
from semantic_memory.domain.ports import Embedder, Progress
from semantic_memory.domain.text import stems
from semantic_memory.retrieval.bm25 import BM25

Method = Literal["dense", "bm25", "min-max", "rrf"]

_RRF_K = 60


class Plain:
    """A plain method."""

    def __init__(self, method: Method, embedder: Embedder) -> None:
        self._method = method
        self._embedder = embedder
        self._shelves: dict[str, Shelf] = {}
        self._postings: dict[str, BM25] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Embed the memories and index their words."""
        self._shelves = shelves(histories, self._embedder, progress)
        for user_id, shelf in self._shelves.items():
            self._postings[user_id] = BM25()
            self._postings[user_id].extend([stems(text) for text in shelf.texts])

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Return the `k` best documents."""
        del asked_at
        shelf = self._shelves[user_id]
        match self._method:
            case "dense":
                scores = self._dense(shelf, query)
            case "bm25":
                scores = self._bm25(user_id, query)
            case "min-max":
                scores = (
                    _scaled(self._dense(shelf, query)) + _scaled(self._bm25(user_id, query))
                ) / 2
            case "rrf":
                scores = _reciprocal(self._dense(shelf, query)) + _reciprocal(
                    self._bm25(user_id, query)
                )
            case _:
                assert_never(self._method)
        return shelf.best(scores, k)

    def close(self) -> None:
        """Do nothing: there are no resources."""

    def _dense(self, shelf: Shelf, query: str) -> Reals:
        vector = self._embedder.embed([query], "query")[0]
        scores: Reals = (shelf.vectors @ vector).astype(np.float64)
        return scores

    def _bm25(self, user_id: str, query: str) -> Reals:
        postings = self._postings[user_id]
        everything = np.ones(len(postings), dtype=np.bool_)
        return postings.score(stems(query), everything).astype(np.float64)


def _scaled(scores: Reals) -> Reals:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _reciprocal(scores: Reals) -> Reals:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return 1.0 / (_RRF_K + ranks)
