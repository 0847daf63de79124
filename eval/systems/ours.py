"""The product under test, through its public interface: open, observe or add, flush, search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from eval.datasets import History, Memory
from eval.systems import Found
from semantic_memory.context import render
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports import Embedder, Progress
from semantic_memory.memory import SemanticMemory
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.settings import RetrievalSettings, Settings, load


class AskedAt:
    """Clock set to the time of a question or a fact."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def now(self) -> datetime:
        """Return the time it is set to."""
        if self.moment is None:
            raise RuntimeError("the clock was read before it was set")
        return self.moment


class Ours:
    """Store in `directory`, filled once and then opened with any weights."""

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        weights: Weights | None = None,
        *,
        rerank: bool = False,
    ) -> None:
        """Reorder the hits of searches by the packaged reranker too if `rerank`."""
        self._directory = directory
        self._embedder = embedder
        # Nothing runs beside the questions, so that no figure depends on how busy the machine is.
        self._settings = load(
            ingest={"background": False}, upkeep={"schedule": False}, rerank={"searches": rerank}
        )
        self._clock = AskedAt()
        self._added: dict[str, list[str]] = {}  # fact id to ids of the data set's facts
        self._memory: SemanticMemory | None = None
        if weights is not None:
            self._settings = _weighted(self._settings, weights)

    @property
    def weights(self) -> Weights:
        """Weights of the ranking."""
        return Weights(**self._settings.retrieval.model_dump())

    def reopen(self, weights: Weights) -> None:
        """Close the store, and rank by other weights when it is opened again."""
        self.close()
        self._settings = _weighted(self._settings, weights)

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Observe every session, add every fact, and wait for the index."""
        last = max(memory.said_at for history in histories for memory in history.memories)
        self._clock.moment = last
        memory = self._opened()
        total = sum(len(history.memories) for history in histories)
        done = 0
        for history in histories:
            for session_id, run in history.runs():
                if session_id is None:
                    for fact in run:
                        self._add(memory, history.user_id, fact)
                else:
                    memory.observe(
                        [one.message for one in run],
                        user_id=history.user_id,
                        session_id=session_id,
                    )
                done += len(run)
                progress("observing", done, total)
        self._clock.moment = last
        memory.flush(progress)

    def search(
        self,
        user_id: str,
        query: str,
        k: int,
        asked_at: datetime,
        *,
        spaces: Sequence[str] = (),
    ) -> Sequence[Found]:
        """Return the first hits, of the `spaces` too."""
        self._clock.moment = asked_at
        hits = self._opened().search(query, user_id=user_id, spaces=spaces, k=k)
        return [Found(self._origins(hit.fact), hit.score, _line(hit.fact)) for hit in hits]

    def packed(
        self, user_id: str, query: str, budget: int, asked_at: datetime
    ) -> tuple[Collection[str], int, str]:
        """Return the memories in the context block, its tokens, and its text."""
        self._clock.moment = asked_at
        context = self._opened().context(query, user_id=user_id, budget=budget)
        kept = {one for fact in context.facts for one in self._origins(fact)}
        return kept, context.tokens, context.text

    def block(self, user_id: str, query: str, budget: int, asked_at: datetime) -> str:
        """Return the text of the context block."""
        self._clock.moment = asked_at
        return self._opened().context(query, user_id=user_id, budget=budget).text

    def close(self) -> None:
        """Close the store; the next call opens it again."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _opened(self) -> SemanticMemory:
        if self._memory is None:
            self._memory = SemanticMemory.open(
                self._directory,
                settings=self._settings,
                embedder=self._embedder,
                clock=self._clock,
            )
        return self._memory

    def _add(self, memory: SemanticMemory, user_id: str, one: Memory) -> None:
        self._clock.moment = one.said_at
        fact = memory.add(
            one.text,
            user_id=user_id,
            category=one.category,
            confidence=one.confidence,
            importance=one.importance,
            tags=one.tags,
            created_at=one.said_at,
        )
        # A repeated text returns the fact that has it already.
        self._added.setdefault(fact.id, []).append(one.id)

    def _origins(self, fact: Fact) -> Sequence[str]:
        return self._added.get(fact.id) or fact.message_ids


def _line(fact: Fact) -> str:
    return f"- [{fact.created_at:%Y-%m-%d}] {render.shown(fact)}"


def _weighted(settings: Settings, weights: Weights) -> Settings:
    return settings.model_copy(update={"retrieval": RetrievalSettings(**asdict(weights))})
