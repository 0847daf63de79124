"""Edit single memories: add, update, delete, restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from semantic_memory.application.lookup import one_fact
from semantic_memory.consolidation.beliefs import believed, revised
from semantic_memory.consolidation.restore import absorbed_into, restoration
from semantic_memory.domain.changes import Add, FactVectors, Forget, Update
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import Clock, Embedder, Ledger
from semantic_memory.domain.requests import (
    AddManyRequest,
    AddRequest,
    DeleteRequest,
    NewFact,
    RestoreRequest,
    UpdateRequest,
)
from semantic_memory.domain.values import derived_id
from semantic_memory.vectors.passages import embed_facts


class Edits:
    """Add, update, delete and restore memories, each in a transaction. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        clock: Clock,
        changed: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._clock = clock
        self._changed = changed

    def add(self, asked: AddRequest) -> Fact:
        """Add a fact, or confirm a known one; return the memory that says it."""
        (fact,) = self._add([asked], asked.user_id)
        return fact

    def add_many(self, asked: AddManyRequest) -> list[Fact]:
        """Add facts, or confirm known ones; return the memories that say them, in order."""
        return self._add(asked.items, asked.user_id) if asked.items else []

    def _add(self, items: Sequence[NewFact], user_id: str) -> list[Fact]:
        now = self._clock.now()
        facts = [_fact(item, user_id, now) for item in items]
        vectors = self._vectors(facts)
        with self._ledger.exclusive():
            changes, ids = believed(facts, self._same, now)
            self._ledger.apply(
                [
                    Add(change.fact, vectors.get(change.fact.id))
                    if isinstance(change, Add)
                    else change
                    for change in changes
                ]
            )
        self._changed(user_id)
        return self._ledger.get(ids)

    def update(self, asked: UpdateRequest) -> Fact:
        """Change a memory; a content that is replaced goes on answering what was believed then.

        Raises NotFoundError.
        """
        with self._ledger.exclusive():
            fact = one_fact(self._ledger, asked.fact_id, asked.user_id)
            now = self._clock.now()
            new, before = revised(fact, asked.changes(), now)
            if new != fact:
                kept = [] if before is None else [Add(before, self._stored_vectors(fact.id))]
                self._ledger.apply([*kept, Update(new, "updated", now, asked.reason)])
        self._changed(fact.user_id)
        return one_fact(self._ledger, fact.id, fact.user_id)

    def delete(self, asked: DeleteRequest) -> None:
        """Delete a memory for good. Raises NotFoundError."""
        with self._ledger.exclusive():
            fact = one_fact(self._ledger, asked.fact_id, asked.user_id)
            # The memories merged into it, and the states that updates replaced, are the same one.
            parts = [fact, *absorbed_into(self._ledger, fact)]
            past = [
                derived_id(part.id, str(version))
                for part in parts
                for version in range(1, part.version)
            ]
            ids = [part.id for part in (*parts, *self._ledger.get(past, fact.user_id))]
            now = self._clock.now()
            self._ledger.apply([Forget(one, now, asked.reason) for one in ids])
        self._changed(fact.user_id)

    def restore(self, asked: RestoreRequest) -> Fact:
        """Restore a memory that was superseded, archived or quarantined. Raises NotFoundError."""
        with self._ledger.exclusive():
            fact = one_fact(self._ledger, asked.fact_id, asked.user_id)
            if fact.status is not Status.ACTIVE:
                now = self._clock.now()
                self._ledger.apply(restoration(self._ledger, fact, asked.reason, now))
        self._changed(fact.user_id)
        return one_fact(self._ledger, fact.id, fact.user_id)

    def _same(self, fact: Fact) -> Fact | None:
        return self._ledger.same_content(fact.user_id, fact.content)

    def _vectors(self, facts: Sequence[Fact]) -> dict[str, FactVectors]:
        try:
            made = embed_facts(self._embedder, facts)
        except ProviderError:
            return {}  # found by words meanwhile; embedded in the background
        return {fact.id: vectors for fact, vectors in zip(facts, made, strict=True)}

    def _stored_vectors(self, fact_id: str) -> FactVectors | None:
        (row,) = self._ledger.traits([fact_id])
        return row.vectors


def _fact(new: NewFact, user_id: str, now: datetime) -> Fact:
    said = new.created_at or now
    return Fact(
        user_id=user_id,
        content=new.content,
        category=new.category,
        confidence=new.confidence,
        importance=new.importance,
        tags=new.tags,
        references=new.references,
        metadata=new.metadata,
        created_at=said,
        recorded_at=now,
        valid_from=said,
    )
