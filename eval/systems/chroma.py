"""Chroma as in its quick-start: add documents, `collection.query`.

One collection with cosine distance, filtered by user with `where`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import chromadb
from chromadb.config import Settings

from eval.datasets import History
from eval.systems import Found
from eval.systems.documents import Shelf, shelves
from semantic_memory.domain.ports import Embedder, Progress

_BATCH = 5_000  # Chroma's limit is 5,461


class Chroma:
    """An in-memory collection."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
        # Ephemeral clients of one process share their collections.
        self._name = f"eval-{id(self)}"
        self._collection = self._client.create_collection(
            self._name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._shelves: dict[str, Shelf] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Add every memory with its vector."""
        self._shelves = shelves(histories, self._embedder, progress)
        for user_id, shelf in self._shelves.items():
            for start in range(0, len(shelf.texts), _BATCH):
                rows = range(start, min(start + _BATCH, len(shelf.texts)))
                owners: list[Any] = [{"user_id": user_id} for _ in rows]
                self._collection.add(
                    ids=[f"{user_id}/{row}" for row in rows],
                    embeddings=shelf.vectors[rows.start : rows.stop],
                    documents=shelf.texts[rows.start : rows.stop],
                    metadatas=owners,
                )

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Query the collection."""
        del asked_at
        answer = self._collection.query(
            query_embeddings=self._embedder.embed([query], "query"),
            n_results=k,
            where={"user_id": user_id},
            include=["distances"],
        )
        (ids,), (distances,) = answer["ids"], answer["distances"] or [[]]
        shelf = self._shelves[user_id]
        return [
            shelf.found(int(found.rpartition("/")[2]), 1.0 - distance)
            for found, distance in zip(ids, distances, strict=True)
        ]

    def close(self) -> None:
        """Drop the collection."""
        self._client.delete_collection(self._name)
