"""Chroma alone: one collection with cosine distance on disk, filtered by user."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import chromadb
from chromadb.config import Settings

from eval.peers.vectors import KnownVectors


class Chroma:
    """Persistent client in `directory`."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        self._vectors = vectors
        client = chromadb.PersistentClient(
            str(directory), settings=Settings(anonymized_telemetry=False)
        )
        self._collection = client.get_or_create_collection(
            "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._numbers = count(self._collection.count())

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Add texts with their vectors."""
        self._collection.add(
            ids=[str(next(self._numbers)) for _ in texts],
            embeddings=self._vectors(texts),
            documents=list(texts),
            metadatas=[{"user_id": user} for _ in texts],
        )

    def search(self, user: str, question: str, k: int) -> int:
        """Query the collection."""
        found = self._collection.query(
            query_embeddings=self._vectors([question]), n_results=k, where={"user_id": user}
        )
        return len(found["ids"][0])

    def settle(self) -> None:
        """Do nothing: there is no work in the background."""

    def close(self) -> None:
        """Do nothing: the process ends."""
