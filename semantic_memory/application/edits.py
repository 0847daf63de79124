"""The caller's own hand on memories: adding, changing, forgetting, bringing back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from semantic_memory.consolidation.beliefs import believed, revised
from semantic_memory.consolidation.restore import absorbed_into, restoration
from semantic_memory.domain.changes import (
    Add,
    Change,
    EraseLines,
    FactVectors,
    Forget,
    Retire,
    Update,
    Write,
)
from semantic_memory.domain.errors import NotFoundError, ProviderError
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Embedder, Ledger
from semantic_memory.domain.profile import Line, ProfileField
from semantic_memory.domain.values import (
    Content,
    Identifier,
    Metadata,
    Tag,
    Timestamp,
    Unit,
    Value,
    derived_id,
    new_id,
    parse,
)
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.profile.rollup import Rollup
from semantic_memory.vectors.passages import embed_facts

_FORGET_BATCH = 500


class _Given(Value):
    category: Category = Category.PERSONAL
    confidence: Unit = 1.0
    importance: Unit = 0.5
    tags: tuple[Tag, ...] = ()
    references: tuple[Identifier, ...] = ()
    metadata: Metadata = Field(default_factory=dict)


class NewFact(_Given):
    """A fact as a caller gives it."""

    content: Content
    created_at: Timestamp | None = None


class _Revision(_Given):
    """What `update` may set; only what was given counts."""

    content: Content = ""


class Curation:
    """Changes single memories, each in a transaction of its own. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        pipeline: Pipeline,
        rollup: Rollup,
        clock: Clock,
        changed: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._pipeline = pipeline
        self._rollup = rollup
        self._clock = clock
        self._changed = changed

    def add(self, items: Sequence[Mapping[str, Any]], user_id: str) -> list[Fact]:
        """Add facts, or confirm what is known; returns the memories that say them."""
        now = self._clock.now()
        facts = [
            _fact(parse(NewFact, f"add, item {n}", item), user_id, now)
            for n, item in enumerate(items, start=1)
        ]
        if not facts:
            return []
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

    def update(
        self, fact_id: str, user_id: str | None, reason: str, changes: Mapping[str, Any]
    ) -> Fact:
        """Change a memory; a content that is replaced answers what was believed until now."""
        asked = parse(_Revision, "update", changes)
        with self._ledger.exclusive():
            fact = self.get(fact_id, user_id)
            now = self._clock.now()
            new, before = revised(fact, asked.model_dump(exclude_unset=True), now)
            if new != fact:
                kept = [] if before is None else [Add(before, self._stored_vectors(fact_id))]
                self._ledger.apply([*kept, Update(new, "updated", now, reason)])
        self._changed(fact.user_id)
        return self.get(fact_id, user_id)

    def delete(self, fact_id: str, user_id: str | None, reason: str) -> None:
        """Take a memory out of every answer, for good."""
        with self._ledger.exclusive():
            fact = self.get(fact_id, user_id)
            # What was merged into it, and what updates replaced, is the same memory.
            parts = [fact, *absorbed_into(self._ledger, fact)]
            past = [
                derived_id(part.id, str(version))
                for part in parts
                for version in range(1, part.version)
            ]
            ids = [part.id for part in (*parts, *self._ledger.get(past, fact.user_id))]
            now = self._clock.now()
            self._ledger.apply([Forget(one, now, reason) for one in ids])
        self._changed(fact.user_id)

    def restore(self, fact_id: str, user_id: str | None, reason: str) -> Fact:
        """Believe a memory again that was superseded, archived or quarantined."""
        with self._ledger.exclusive():
            fact = self.get(fact_id, user_id)
            if fact.status is not Status.ACTIVE:
                now = self._clock.now()
                self._ledger.apply(restoration(self._ledger, fact, reason, now))
        self._changed(fact.user_id)
        return self.get(fact_id, user_id)

    def forget(
        self,
        user_id: str,
        *,
        tag: str | None,
        since: datetime | None,
        until: datetime | None,
        session_id: str | None,
        reason: str,
    ) -> int:
        """Forget what was told about a topic, in a time, in a session, or everything of a user.

        A session, or a user, that is forgotten as a whole loses its session logs too, first: cut
        off, it is forgotten by asking again.
        """
        if tag is None and since is None and until is None:
            named = session_id is not None
            sessions = [session_id] if named else self._pipeline.session_ids(user_id)
            for session in sessions:
                self._pipeline.forget_session(SessionKey(user_id, str(session)))
        else:
            self._pipeline.store()  # also what was said a moment ago
        number = 0
        with self._ledger.exclusive():
            ids = self._ledger.ids(
                user_id, tag=tag, since=since, until=until, session_id=session_id
            )
            if tag is None and session_id is None:
                self._ledger.apply([EraseLines(user_id, since, until)])
            for start in range(0, len(ids), _FORGET_BATCH):
                now = self._clock.now()
                batch = ids[start : start + _FORGET_BATCH]
                number += self._ledger.apply([Forget(one, now, reason) for one in batch])
        self._changed(user_id)
        return number

    def update_profile(self, user_id: str, fields: Mapping[ProfileField, str | None]) -> None:
        """Write fields of a profile by hand; None gives one back to what facts say."""
        now = self._clock.now()
        cleared = {name for name, text in fields.items() if text is None}
        with self._ledger.exclusive():
            changes: list[Change] = [
                Retire(line.id, now)
                for line in self._ledger.lines(user_id)
                if line.layer in cleared
            ]
            changes += [
                Write(
                    Line(
                        id=new_id(),
                        user_id=user_id,
                        layer=name,
                        text=text,
                        origin="user",
                        at=now,
                        valid_from=now,
                    )
                )
                for name, text in fields.items()
                if text is not None
            ]
            self._ledger.apply(changes)
        self._rollup.refresh(user_id)

    def get(self, fact_id: str, user_id: str | None) -> Fact:
        """A memory, if it is the user's. Raises NotFoundError."""
        found = self._ledger.get([fact_id], user_id)
        if not found:
            raise NotFoundError(f"no memory {fact_id!r}")
        return found[0]

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
