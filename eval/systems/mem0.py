"""mem0 without an LLM (`infer=False`): it stores every memory verbatim, in its default Qdrant.

Its keyword search needs a model from the network (`Qdrant/bm25`); offline it searches by vectors
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from mem0 import Memory as Mem0Memory
from mem0.embeddings.base import EmbeddingBase

from eval.datasets import History, Memory
from eval.systems import Found
from eval.systems.documents import line
from semantic_memory.domain.ports import Embedder, InputType, Progress


class _Vectors(EmbeddingBase):  # type: ignore[misc]  # mem0 publishes no types
    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of one text."""
        kind: InputType = "query" if memory_action == "search" else "document"
        vector: list[float] = self._embedder.embed([text], kind)[0].tolist()
        return vector


class Mem0:
    """mem0's open-source `Memory` in `directory`."""

    def __init__(self, embedder: Embedder, directory: Path) -> None:
        config: dict[str, Any] = {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(directory / "qdrant"),
                    "embedding_model_dims": embedder.identity.dimension,
                },
            },
            # Never called, but required by mem0.
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(directory / "history.db"),
        }
        self._mem0 = Mem0Memory.from_config(config)
        self._mem0.embedding_model = _Vectors(embedder)
        self._memories: dict[str, Memory] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Add every memory as a message."""
        total = sum(len(history.memories) for history in histories)
        for history in histories:
            for memory in history.memories:
                message = {"role": memory.role, "content": memory.spoken}
                added = self._mem0.add([message], user_id=history.user_id, infer=False)
                for result in added["results"]:
                    self._memories[result["id"]] = memory
                progress("adding", len(self._memories), total)

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Search mem0 without its threshold."""
        del asked_at
        answer = self._mem0.search(query, top_k=k, filters={"user_id": user_id}, threshold=0.0)
        return [
            Found([self._memories[row["id"]].id], row["score"], line(self._memories[row["id"]]))
            for row in answer["results"]
        ]

    def close(self) -> None:
        """Close the store."""
        self._mem0.vector_store.client.close()
