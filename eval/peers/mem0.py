"""mem0 without an LLM (`infer=False`), on Chroma.

It takes vectors from the embedders it knows by name; another stands in for one of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eval.peers.vectors import KnownVectors


class Mem0:
    """mem0's `Memory` in `directory`."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        # Read when mem0 is imported: no telemetry, and no files in the home directory.
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(directory)
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        class Known(EmbeddingBase):  # type: ignore[misc]  # mem0 publishes no types
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                del memory_action
                return vectors.lists([text])[0]

        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "chroma",
                    "config": {"path": str(directory / "chroma")},
                },
                # Never called, but required by mem0.
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "embedder": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": str(directory / "history.db"),
            }
        )
        self._memory.embedding_model = Known()

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Add texts as messages of one call, which embeds and stores them one by one."""
        said = [{"role": "user", "content": text} for text in texts]
        self._memory.add(said, user_id=user, infer=False)

    def search(self, user: str, question: str, k: int) -> int:
        """Search without a threshold."""
        found = self._memory.search(question, top_k=k, filters={"user_id": user}, threshold=0.0)
        return len(found["results"])

    def settle(self) -> None:
        """Do nothing: there is no work in the background."""

    def close(self) -> None:
        """Close the store."""
        self._memory.close()
