"""semantic-memory in its default settings, with given vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.peers.vectors import KnownVectors
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import EmbedderIdentity, InputType
from semantic_memory.memory import SemanticMemory


class _Known:
    def __init__(self, vectors: KnownVectors) -> None:
        self._vectors = vectors
        self.identity = EmbedderIdentity("known", vectors.dimension, "none", "fp32")

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        del input_type
        return self._vectors(texts)


class Ours:
    """Store in `directory`."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        self._memory = SemanticMemory.open(directory, embedder=_Known(vectors))

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Add texts in one transaction."""
        self._memory.transfer.add_many([{"content": text} for text in texts], user_id=user)

    def search(self, user: str, question: str, k: int) -> int:
        """Search the user's memories."""
        return len(self._memory.search(question, user_id=user, k=k))

    def settle(self) -> None:
        """Wait for consolidation and the index."""
        self._memory.flush()

    def close(self) -> None:
        """Close the store."""
        self._memory.close()
