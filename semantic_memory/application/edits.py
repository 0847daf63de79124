"""Edit single memories: add, update, delete, restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ingest.gate import Gate
from semantic_memory.application.clearing import cleared, suspected
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.expiring import whole
from semantic_memory.application.lookup import one_fact
from semantic_memory.application.reach import Reach, reach
from semantic_memory.consolidation.beliefs import believed, revised
from semantic_memory.consolidation.restore import restoration
from semantic_memory.domain.categories import Declared
from semantic_memory.domain.changes import Add, Evict, FactVectors, Update
from semantic_memory.domain.dating import refuse_ahead
from semantic_memory.domain.errors import InvalidInputError, ProviderError, StoreCorruptError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.fields import NEVER
from semantic_memory.domain.once import already_done, effect
from semantic_memory.domain.ports import Clock, Embedder, Ledger
from semantic_memory.domain.requests import (
    AddManyRequest,
    AddRequest,
    DeleteRequest,
    NewFact,
    RestoreRequest,
    UpdateRequest,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.pipeline.facts import is_logged_only, restated
from semantic_memory.vectors.passages import embed_facts


class Edits:
    """Add, update, delete and restore memories, each in a transaction. Thread-safe.

    `cap` is the largest number of a user's facts. Categories that aren't `declared` are refused.
    """

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        gate: Gate,
        clock: Clock,
        expiry: Expiry,
        cap: int,
        erasing: Erasing,
        changed: Callable[[str], None],
        declared: Declared,
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._gate = gate
        self._clock = clock
        self._expiry = expiry
        self._cap = cap
        self._erasing = erasing
        self._changed = changed
        self._declared = declared

    def add(self, asked: AddRequest) -> Fact:
        """Add a fact, or confirm a known one; return the memory that says it.

        One that reads like an instruction to a model is quarantined.
        """
        (fact,) = self._add([asked], asked.user_id)
        return fact

    def add_many(self, asked: AddManyRequest) -> list[Fact]:
        """Add facts, or confirm known ones; return the memories that say them, in order."""
        items = [item.within(asked.scope) for item in asked.items]
        return self._add(items, asked.user_id) if items else []

    def _add(self, items: Sequence[NewFact], user_id: str) -> list[Fact]:
        now = self._clock.now()
        places = ["add"] if len(items) == 1 else [f"item {n}" for n in range(1, len(items) + 1)]
        for item, place in zip(items, places, strict=True):
            refuse_ahead(item.created_at, now, place)
            self._declared.check([item.category], f"{place}: category")
        facts = [
            _fact(item.model_copy(update=cleared(self._gate, dict(item), place)), user_id, now)
            for item, place in zip(items, places, strict=True)
        ]
        vectors = self._vectors(facts)
        held = [
            fact
            for item, fact in zip(items, facts, strict=True)
            if suspected(self._gate, dict(item), item.trust)
        ]
        taken = [fact for fact in facts if fact not in held]
        with self._ledger.exclusive(user_id):
            changes, kept = believed(taken, partial(restated, self._ledger, self._expiry), now)
            changes += [Add(_quarantined(fact)) for fact in held]
            stored = dict(zip((fact.id for fact in taken), kept, strict=True))
            ids = [stored.get(fact.id, fact.id) for fact in facts]
            if not already_done():
                new = [
                    Add(change.fact, vectors.get(change.fact.id))
                    if isinstance(change, Add)
                    else change
                    for change in changes
                ]
                with effect():
                    self._ledger.apply([*new, Evict(user_id, self._cap, now)])
            added = self._ledger.get(ids)  # before anybody forgets them
        if len(added) < len(ids):
            raise StoreCorruptError("add: the ledger lacks what it just wrote: check the disk")
        self._changed(user_id)
        return added

    def update(self, asked: UpdateRequest) -> Fact:
        """Change a memory; a content that is replaced still answers what was believed then.

        Raises NotFoundError, InvalidInputError.
        """
        self._declared.check([asked.category] if asked.category else [], "update: category")
        values = cleared(self._gate, _values(asked), "update")
        user_id = one_fact(self._ledger, asked.fact_id, asked.user_id).user_id
        with self._ledger.exclusive(user_id):
            fact = one_fact(self._ledger, asked.fact_id, user_id, self._expiry.now)
            now = self._clock.now()
            trust = min(fact.trust, asked.trust or fact.trust)
            new, before = revised(fact, {**values, "trust": trust}, now)
            if suspected(self._gate, values, trust):
                new = _quarantined(new)
            if new != fact and not already_done():
                kept = [] if before is None else [Add(before, self._stored_vectors(fact.id))]
                with effect():
                    self._ledger.apply(
                        [*kept, Update(new, "updated", now, self._gate.redacted(asked.reason))]
                    )
            written = self._ledger.get([fact.id], user_id)  # before anybody forgets it
        if not written:
            raise StoreCorruptError("update: the ledger lacks what it just wrote: check the disk")
        self._changed(user_id)
        return written[0]

    def delete(self, asked: DeleteRequest) -> None:
        """Delete a memory permanently, with what goes with it. Raises NotFoundError.

        A memory that is deleted already stays as it is: the answer of the first time may be lost.
        """
        latest = self._ledger.history(asked.fact_id, asked.user_id)[-1].fact
        if latest.status is Status.FORGOTTEN:
            return
        user_id = latest.user_id

        def reached() -> Reach:
            fact = one_fact(self._ledger, asked.fact_id, user_id)
            seeds = self._ledger.get(whole(self._ledger, fact))
            if asked.keep_source:
                return Reach({one.id: one for one in seeds})
            return reach(self._ledger, user_id, seeds, sources=True)

        self._erasing.erase(user_id, reached, self._gate.redacted(asked.reason))

    def restore(self, asked: RestoreRequest) -> Fact:
        """Restore a memory that was superseded, archived or quarantined.

        Raises NotFoundError, InvalidInputError for a message that isn't to be recalled.
        """
        user_id = one_fact(self._ledger, asked.fact_id, asked.user_id).user_id
        with self._ledger.exclusive(user_id):
            fact = one_fact(self._ledger, asked.fact_id, user_id, self._expiry.now)
            if is_logged_only(fact):
                raise InvalidInputError(
                    f"restore: memory {fact.id!r} is a message that was observed with recall=False:"
                    " observe it again under another id to have it recalled"
                )
            if fact.status is not Status.ACTIVE and not already_done():
                now = self._clock.now()
                back = restoration(self._ledger, fact, self._gate.redacted(asked.reason), now)
                full = Evict(fact.user_id, self._cap, now, sparing=fact.id)
                with effect():
                    self._ledger.apply([*back, full])
        self._changed(user_id)
        return one_fact(self._ledger, fact.id, user_id)

    def _vectors(self, facts: Sequence[Fact]) -> dict[str, FactVectors]:
        try:
            made = embed_facts(self._embedder, facts)
        except ProviderError:
            return {}  # found by words meanwhile; embedded in the background
        return {fact.id: vectors for fact, vectors in zip(facts, made, strict=True)}

    def _stored_vectors(self, fact_id: str) -> FactVectors | None:
        (row,) = self._ledger.traits([fact_id])
        return row.vectors


def _values(asked: UpdateRequest) -> dict[str, Any]:
    """Return the new values of a fact's fields."""
    values = asked.changes()
    return {**values, "expires_at": None} if asked.expires_at == NEVER else values


def _quarantined(fact: Fact) -> Fact:
    return fact.model_copy(update={"status": Status.QUARANTINED})


def _fact(new: NewFact, user_id: str, now: datetime) -> Fact:
    said = new.created_at or now
    return Fact(
        user_id=user_id,
        agent_id=new.agent_id,
        run_id=new.run_id,
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
        expires_at=new.expires_at,
        body=new.body,
        trust=new.trust,
    )
