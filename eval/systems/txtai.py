"""txtai's hybrid index (dense and BM25 in equal shares), one per user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from txtai import Embeddings

from eval.datasets import History
from eval.systems import Found
from eval.systems.documents import Shelf, Vectors, shelves
from semantic_memory.domain.ports import Embedder, Progress


class Txtai:
    """`Embeddings(hybrid=True)` with external vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = Vectors(embedder)
        self._shelves: dict[str, Shelf] = {}
        self._indexes: dict[str, Embeddings] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Index every user's memories."""
        self._shelves = shelves(histories, self._embedder, progress)
        for user_id, shelf in self._shelves.items():
            index = Embeddings(
                method="external",
                # Takes a plain function only; it calls any other object to get one.
                transform=lambda texts: np.array(self._vectors(texts), dtype=np.float32),
                hybrid=True,
                content=False,
            )
            index.index([(row, text, None) for row, text in enumerate(shelf.texts)])
            self._indexes[user_id] = index
        self._vectors.kind = "query"

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Search the user's index."""
        del asked_at
        results = self._indexes[user_id].search(query, k)
        return [self._shelves[user_id].found(int(row), float(score)) for row, score in results]

    def close(self) -> None:
        """Close every index."""
        for index in self._indexes.values():
            index.close()
