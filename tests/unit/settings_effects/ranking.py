"""Effects of the weights of ranking, of half-lives, and of the indexes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from semantic_memory import Hit, SemanticMemory
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import InputType, Match
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import NOW, say
from tests.unit.settings_effects.case import S, Trial, U, effect, says


class Same(HashEmbedder):
    """An embedder that finds all texts alike."""

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return the same unit vector for every text."""
        rows = np.zeros((len(texts), self.identity.dimension), dtype=np.float32)
        rows[:, 0] = 1.0
        return rows


class CountingIndex(InMemoryIndex):
    """An index that counts its queries."""

    queries = 0

    def query(self, vector: Matrix, **options: Any) -> list[Match]:
        """Count the query, and answer it."""
        self.queries += 1
        return super().query(vector, **options)


def found(memory: SemanticMemory, query: str, beginning: str) -> Hit:
    """Return the hit for `query` that begins so."""
    hits = memory.search(query, **U)
    return next(hit for hit in hits if hit.fact.content.startswith(beginning))


def talked(run: Trial, *contents: str, **values: Any) -> SemanticMemory:
    """Return a store with a conversation of these messages, of which no fact is extracted."""
    memory = run.open(extractor=says())
    memory.observe(say(*contents, **values), **S)
    memory.flush()
    return memory


@effect("retrieval.dense", 0.0, was=True, becomes=False)
def by_meaning_alone(run: Trial) -> bool:
    memory = run.open(embedder=Same())
    memory.add("Likes tea", **U)
    return found(memory, "beverages", "Likes").parts.match > 0


@effect("retrieval.sentence", 1.0, was=False, becomes=True)
def one_sentence_of_many(run: Trial) -> bool:
    memory = talked(run, "The kettle is red. We sailed to Norway. Bread needs salt and time.")
    return found(memory, "We sailed to Norway.", "The kettle").parts.dense > 0.99


@effect(
    "retrieval.neighbour", 0, was=True, becomes=False, retrieval__session=0, retrieval__answer=0
)
def beside_a_match(run: Trial) -> bool:
    memory = talked(run, "My bicycle is red.", "So it is, indeed.")
    return found(memory, "bicycle", "So it is").parts.context > 0


@effect(
    "retrieval.answer", 0, was=True, becomes=False, retrieval__session=0, retrieval__neighbour=0
)
def after_a_question(run: Trial) -> bool:
    memory = talked(run, "Which bicycle is yours?", "The red one over there.")
    return found(memory, "bicycle", "The red one").parts.context > 0


@effect(
    "retrieval.session", 0, was=True, becomes=False, retrieval__answer=0, retrieval__neighbour=0
)
def in_the_session_of_a_match(run: Trial) -> bool:
    memory = talked(run, "My bicycle is red.", "So it is, indeed.")
    return found(memory, "bicycle", "So it is").parts.context > 0


@effect("retrieval.speaker", 0, was=True, becomes=False)
def by_the_named_speaker(run: Trial) -> bool:
    memory = talked(run, "My bicycle is red.", name="Melanie")
    return found(memory, "Which bicycle has Melanie?", "My").parts.speaker > 0


@effect("retrieval.voice", 0, was=True, becomes=False)
def in_the_users_own_words(run: Trial) -> bool:
    memory = talked(run, "The bicycle is in the shed.")
    return found(memory, "Where did I put my bicycle?", "The").parts.voice > 0


@effect("retrieval.time", 0, was=True, becomes=False)
def of_the_named_time(run: Trial) -> bool:
    memory = talked(run, "We repaired the bicycle.", created_at=NOW - timedelta(days=7))
    return found(memory, "What was repaired last week?", "We").parts.time > 0


@effect("retrieval.asks", 0, was=True, becomes=False)
def that_asks_itself(run: Trial) -> bool:
    memory = talked(run, "Where is the bicycle?")
    return found(memory, "the bicycle", "Where").parts.asks > 0


@effect("retrieval.outdated", 0, was=True, becomes=False)
def that_no_longer_holds(run: Trial) -> bool:
    memory = run.open()
    memory.observe(say("I live in Bergen."), **S)
    memory.flush()
    run.clock.advance(days=1)
    memory.observe(say("I live in Oslo now.", start=2, created_at=run.clock.now()), **S)
    memory.flush()
    return found(memory, "Where do I live?", "I live in Bergen").parts.outdated > 0


@effect("retrieval.relevance", 0, was=False, becomes=True)
def whatever_its_importance(run: Trial) -> bool:
    memory = run.open()
    memory.add("Likes tea", **U, importance=0.1)
    hit = found(memory, "tea", "Likes")
    return abs(hit.score - hit.parts.match) < 1e-9


@effect("half_life_days", {"finding": 1}, was=0.5, becomes=0.1)
def after_two_weeks(run: Trial) -> float:
    memory = run.open()
    fact = memory.add("The cache was cold", **U, category="finding")
    run.clock.advance(days=14)
    return round(memory.history.explain(fact.id).retention, 6)


def recency(run: Trial, *, days: float, used: bool = False) -> float:
    """Return the boost of a memory that was said `days` ago, and used just now if `used`."""
    memory = run.open()
    memory.add("The cache was cold", **U, category="finding")
    run.clock.advance(days=days)
    if used:
        memory.context("cache", **U)
        memory.jobs.run(["usage"])
    return round(found(memory, "cache", "The cache").parts.recency, 6)


@effect("relevance.floor", 0.4, was=0.1, becomes=0.4)
def after_a_year(run: Trial) -> float:
    memory = run.open()
    memory.add("The cache was cold", **U, category="finding")
    run.clock.advance(days=365)
    return round(found(memory, "cache", "The cache").parts.retention, 6)


effect("relevance.boost", 1, was=1.5, becomes=2.0)(lambda run: recency(run, days=0))
effect("relevance.boost_half_life_days", 3.5, was=1.25, becomes=1.125)(
    lambda run: recency(run, days=7)
)
effect("relevance.use_share", 1, was=1.25, becomes=1.5)(
    lambda run: recency(run, days=400, used=True)
)


@effect("index.exact", False, was=0, becomes=1)
def queries_of_the_index_without_a_scan(run: Trial) -> int:
    return int(queries_of_the_index_behind(run))


@effect("index.exact_limit", 1, was=0, becomes=1)
def queries_of_the_index_behind(run: Trial) -> int:
    index = CountingIndex()
    memory = run.open(index=index)
    # more than forty times the limit that is set, as many as a file may hold
    memory.transfer.add_many([{"content": f"Owns item {n}"} for n in range(41)], **U)
    memory.flush()
    memory.search("item", **U)
    return index.queries


@effect("index.exact_megabytes", 1, was=0, becomes=1)
def queries_for_vectors_of_several_megabytes(run: Trial) -> int:
    index = CountingIndex()
    memory = run.open(index=index, embedder=HashEmbedder(4_096))
    memory.transfer.add_many([{"content": f"Owns item {n}"} for n in range(150)], **U)
    memory.flush()
    memory.search("item", **U)
    return index.queries


@effect("index.sync_threshold", 5, was=False, becomes=True)
def flushed_to_disk(run: Trial) -> bool:
    memory = run.open(index=None)
    memory.transfer.add_many([{"content": f"Owns item {n}"} for n in range(30)], **U)
    memory.flush()
    return any(run.directory.rglob("index_metadata.pickle"))
