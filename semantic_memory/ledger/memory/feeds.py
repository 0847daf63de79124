"""Following the ledger: the outbox of an index, the deltas of partitions, the backlog."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.conditions import meets
from semantic_memory.domain.decay import endurance
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Delta, Match, Outbox, Trait, TraitRow
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class Feeds(Part):
    """The roles `SyncFeed`, `PartitionFeed`, `Traits` and `EmbeddingBacklog`."""

    # ---------------------------------------------------------------- an index

    def outbox(self, since: int, limit: int) -> Outbox:
        """Return the next changes that an index at revision `since` lacks, in order."""
        rows = self._changed(None, since, limit)
        return rules.outbox(
            since, [rules.Stored(row.fact, row.vectors, row.revision) for row in rows]
        )

    def held_at(self, revision: int) -> tuple[int, int]:
        """Return how many memories an index at `revision` holds at least, and at most."""
        rows = self._store.snapshot().facts.values()
        later = sum(row.revision > revision for row in rows)
        least = sum(_held(row) for row in rows if row.revision <= revision)
        return least, least + later

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        return {row.fact.id for row in self._store.snapshot().facts.values() if _held(row)}

    def similarities(
        self, vector: Matrix, user_id: str, filters: Filters, since: int = 0
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in one batch."""
        conditions = filters.conditions()
        matches = [
            Match(row.fact.id, float((row.vectors.windows @ vector).max()))
            for row in self._store.snapshot().of(user_id)
            if row.vectors is not None and row.revision > since and meets(row.fact, conditions)
        ]
        if matches:
            yield matches

    # ---------------------------------------------------------------- a partition

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`."""
        rows = self._changed(user_id, since, limit)
        return Delta(
            revision=rows[-1].revision if rows else since,
            rows=[_trait(row) for row in rows if row.kept],
            removed=[row.num for row in rows if not row.kept],
        )

    def footprint(self, user_id: str) -> tuple[int, int]:
        """Return the number of the user's memories, and the bytes of their texts and vectors."""
        rows = [row for row in self._store.snapshot().of(user_id) if row.kept]
        texts = sum(len(row.fact.content) for row in rows)
        vectors = [row.vectors for row in rows if row.vectors is not None]
        return len(rows), texts + sum(v.windows.nbytes + v.sentences.nbytes for v in vectors)

    def _changed(self, user_id: str | None, since: int, limit: int | None) -> list[Row]:
        rows = (row for row in self._store.snapshot().of(user_id) if row.revision > since)
        return sorted(rows, key=attrgetter("revision"))[:limit]

    # ---------------------------------------------------------------- a large search

    def traits(self, fact_ids: Sequence[str]) -> list[TraitRow]:
        """Return the ranking columns of memories; forgotten ones are left out."""
        facts = self._store.snapshot().facts
        rows = (facts[fact_id] for fact_id in dict.fromkeys(fact_ids) if fact_id in facts)
        return [_trait(row) for row in rows if row.kept]

    def neighbours(self, fact_ids: Sequence[str]) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions."""
        tables = self._store.snapshot()
        near = {
            (user_id, session_id, position + step)
            for row in map(tables.facts.get, fact_ids)
            if row is not None and row.kept
            for user_id, session_id, position in [_place(row.fact)]
            if session_id is not None and position is not None
            for step in (-1, 0, 1)
        }
        rows = tables.facts.values()
        return [row.fact.id for row in rows if row.kept and _place(row.fact) in near]

    # ---------------------------------------------------------------- the embedder

    def unembedded(self, limit: int) -> list[Fact]:
        """Return memories without vectors, oldest first; refused ones are left out."""
        rows = self._store.snapshot().facts.values()
        return [row.fact for row in islice((row for row in rows if row.waiting), limit)]

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        return sum(row.waiting for row in self._store.snapshot().facts.values())


def _held(row: Row) -> bool:
    return row.kept and row.vectors is not None


def _place(fact: Fact) -> tuple[str, str | None, int | None]:
    return fact.user_id, fact.source.session_id, fact.source.position


def _trait(row: Row) -> TraitRow:
    fact, source = row.fact, row.fact.source
    corroborations = 0 if row.verbatim else len(fact.corroborations)
    agent_id, run_id = fact.scope.columns
    trait = Trait(
        num=row.num,
        id=fact.id,
        session_id=source.session_id,
        position=source.position,
        role=source.role,
        speaker=source.speaker,
        category=fact.category.value,
        status=fact.status.value,
        content=fact.text,
        confidence=fact.confidence,
        importance=fact.importance,
        created_at=fact.created_at.timestamp(),
        stated_at=fact.stated_at.timestamp(),
        used_at=-math.inf if fact.last_used_at is None else fact.last_used_at.timestamp(),
        valid_from=fact.valid_from.timestamp(),
        valid_to=math.inf if fact.valid_to is None else fact.valid_to.timestamp(),
        expires_at=math.inf if fact.expires_at is None else fact.expires_at.timestamp(),
        tags=fact.tags,
        said_in=rules.places(fact.sources),
        agent_id=agent_id,
        run_id=run_id,
        endurance=endurance(fact.use_count, corroborations, fact.tags),
        corroborations=corroborations,
    )
    return TraitRow(trait, row.vectors)
