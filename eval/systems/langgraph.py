"""LangGraph's InMemoryStore with vector search, a namespace per user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langgraph.store.memory import InMemoryStore

from eval.datasets import History, Memory
from eval.systems import Found
from eval.systems.documents import Vectors, line
from semantic_memory.domain.ports import Embedder, Progress


class LangGraph:
    """Store indexed by the field `text`."""

    def __init__(self, embedder: Embedder) -> None:
        self._vectors = Vectors(embedder)
        self._store = InMemoryStore(
            index={
                "dims": embedder.identity.dimension,
                # Takes a function or a LangChain object.
                "embed": lambda texts: self._vectors(texts),
                "fields": ["text"],
            }
        )
        self._memories: dict[tuple[str, str], Memory] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Put memories one at a time, as a batch fails on repeated texts."""
        total = sum(len(history.memories) for history in histories)
        for history in histories:
            for memory in history.memories:
                self._memories[history.user_id, memory.id] = memory
                self._store.put(("memories", history.user_id), memory.id, {"text": memory.spoken})
                progress("putting", len(self._memories), total)
        self._vectors.kind = "query"

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Search the store."""
        del asked_at
        items = self._store.search(("memories", user_id), query=query, limit=k)
        return [
            Found([item.key], item.score or 0.0, line(self._memories[user_id, item.key]))
            for item in items
        ]

    def close(self) -> None:
        """Do nothing: there are no resources."""
