"""LangGraph's InMemoryStore with its vector search, a namespace per user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from eval.datasets import History, Memory
from eval.systems import Found
from eval.systems.documents import as_lists, line
from semantic_memory.ports import Embedder, Progress

_BATCH = 256


class LangGraph:
    """A store indexed by the field `text`."""

    def __init__(self, embedder: Embedder) -> None:
        self._store = InMemoryStore(
            index={
                "dims": embedder.identity.dimension,
                "embed": as_lists(embedder),
                "fields": ["text"],
            }
        )
        self._memories: dict[tuple[str, str], Memory] = {}

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Put every memory."""
        puts = []
        for history in histories:
            for memory in history.memories:
                self._memories[history.user_id, memory.id] = memory
                puts.append(
                    PutOp(("memories", history.user_id), memory.id, {"text": memory.spoken})
                )
        for start in range(0, len(puts), _BATCH):
            self._store.batch(puts[start : start + _BATCH])
            progress("putting", start, len(puts))

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """What the store finds."""
        del asked_at
        items = self._store.search(("memories", user_id), query=query, limit=k)
        return [
            Found([item.key], item.score or 0.0, line(self._memories[user_id, item.key]))
            for item in items
        ]

    def close(self) -> None:
        """Nothing to release."""
