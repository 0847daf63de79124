"""MemPalace: a wing per user, every memory a drawer, its own hybrid search.

It takes vectors from its own models or an HTTP endpoint only, so the embedder is served on the
loopback interface, and the latency includes that request.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from eval.datasets import History, Memory
from eval.endpoint import EmbeddingEndpoint
from eval.systems import Found
from eval.systems.documents import Vectors, line
from semantic_memory.domain.ports import Embedder, Progress

_BATCH = 128


class MemPalace:
    """Palace in `directory`."""

    def __init__(self, embedder: Embedder, directory: Path) -> None:
        self._vectors = Vectors(embedder)
        self._endpoint = EmbeddingEndpoint(self._vectors)
        os.environ["MEMPALACE_EMBEDDING_MODEL"] = "openai-compat"
        os.environ["MEMPALACE_EMBEDDING_API_URL"] = self._endpoint.url
        os.environ["MEMPALACE_EMBEDDING_API_MODEL"] = embedder.identity.model
        from mempalace.palace import get_collection

        self._palace = str(directory / "palace")
        self._drawers = get_collection(self._palace)
        self._memories: dict[tuple[str, str], Memory] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """File every memory."""
        total = sum(len(history.memories) for history in histories)
        for history in histories:
            for start in range(0, len(history.memories), _BATCH):
                batch = history.memories[start : start + _BATCH]
                self._drawers.upsert(
                    ids=[f"{history.user_id}/{memory.id}" for memory in batch],
                    documents=[memory.spoken for memory in batch],
                    metadatas=[
                        {
                            "wing": history.user_id,
                            "room": memory.session_id or "facts",
                            "source_file": memory.id,
                            "chunk_index": 0,
                            "filed_at": memory.said_at.isoformat(),
                        }
                        for memory in batch
                    ],
                )
                self._memories |= {(history.user_id, memory.id): memory for memory in batch}
                progress("filing", len(self._memories), total)
        self._vectors.kind = "query"

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Search the user's wing."""
        del asked_at
        from mempalace.searcher import search_memories

        answer = search_memories(query, self._palace, wing=user_id, n_results=k)
        return [
            Found(
                [row["source_file"]],
                row["similarity"],
                line(self._memories[user_id, row["source_file"]]),
            )
            for row in answer["results"]
        ]

    def close(self) -> None:
        """Stop serving vectors."""
        self._endpoint.close()
