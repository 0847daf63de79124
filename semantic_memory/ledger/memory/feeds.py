"""Following the ledger: the deltas of partitions, large searches, the backlog of the embedder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from operator import attrgetter

from semantic_memory.domain.decay import endurance
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports import Claimed, Delta, Trait, TraitRow
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class Feeds(Part):
    """The roles `PartitionFeed`, `Traits` and `EmbeddingBacklog`."""

    # ---------------------------------------------------------------- a partition

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`."""
        changed = (row for row in self._store.snapshot().of(user_id) if row.revision > since)
        rows = sorted(changed, key=attrgetter("revision"))[:limit]
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

    # ---------------------------------------------------------------- a large search

    def traits(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[TraitRow]:
        """Return the ranking columns of memories; forgotten ones are left out."""
        facts = self._store.snapshot().facts
        rows = (facts[fact_id] for fact_id in dict.fromkeys(fact_ids) if fact_id in facts)
        return [_trait(row) for row in rows if row.kept and user_id in (None, row.fact.user_id)]

    def neighbours(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions."""
        tables = self._store.snapshot()
        near = {
            (owner, session_id, position + step)
            for row in map(tables.facts.get, fact_ids)
            if row is not None and row.kept and user_id in (None, row.fact.user_id)
            for owner, session_id, position in [_place(row.fact)]
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

    def claim_unembedded(self, limit: int, seconds: float) -> Claimed:
        """Return memories as `unembedded` does: there is no other process."""
        del seconds
        return Claimed(self.unembedded(limit))

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        return sum(row.waiting for row in self._store.snapshot().facts.values())


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
        follows=fact.follows,
    )
    return TraitRow(trait, list(Counter(row.words).elements()), row.vectors)
