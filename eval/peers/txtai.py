"""txtai's hybrid index (dense and BM25) with external vectors, one for each user.

An index is in RAM until it is saved; `settle` saves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from txtai import Embeddings

from eval.peers.vectors import KnownVectors


class Txtai:
    """Indexes in `directory`, opened when they are asked for."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        self._directory = directory
        self._vectors = vectors
        self._indexes: dict[str, Embeddings] = {}
        self._changed: set[str] = set()

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Add texts to the index of a user."""
        self._changed.add(user)
        self._index(user).upsert([(text, text, None) for text in texts])

    def search(self, user: str, question: str, k: int) -> int:
        """Search the index of a user."""
        return len(self._index(user).search(question, k))

    def settle(self) -> None:
        """Save the indexes that were changed."""
        for user in self._changed:
            self._indexes[user].save(str(self._directory / user))
        self._changed.clear()

    def close(self) -> None:
        """Close every index."""
        for index in self._indexes.values():
            index.close()

    def _index(self, user: str) -> Embeddings:
        if user not in self._indexes:
            # Takes a plain function only; it calls any other object to get one.
            config = {"method": "external", "transform": lambda texts: self._vectors(texts)}
            index = Embeddings(hybrid=True, content=True, **config)
            if (self._directory / user).exists():
                index.load(str(self._directory / user), config=config)
            self._indexes[user] = index
        return self._indexes[user]
