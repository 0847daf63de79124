"""The states of the ledger in plain dictionaries, each made from the last by a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from semantic_memory.concurrency import Bell, Contended, FairLock
from semantic_memory.domain.changes import (
    Cursor,
    CursorStage,
    FactVectors,
    Mark,
    Matrix,
    Redact,
)
from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.events import Event
from semantic_memory.domain.facts import Category, Fact, FactVersion, Status
from semantic_memory.domain.feed import MemoryEvent
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.items import Item
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import KeptItem
from semantic_memory.domain.profile import Line
from semantic_memory.domain.reports import JobRun


@dataclass(frozen=True, slots=True)
class Row:
    """A memory in its present state. A forgotten one keeps its row as the tombstone."""

    num: int
    fact: Fact
    action: str
    """The action that led to this version; its reason and time are below."""
    reason: str
    changed_at: datetime
    by: str | None
    """The name of the API key with which that was done."""
    words: Mapping[str, int]
    """Count of each stemmed word in the text; empty once erased."""
    revision: int
    versions: tuple[FactVersion, ...] = ()
    """The versions before this one."""
    vectors: FactVectors | None = None
    refused: bool = False
    """True if the embedding model refuses the text."""
    cut: bool = False
    """True if sentences of it were cut since the last erasure."""
    keys: frozenset[bytes] = frozenset()
    placings: tuple[tuple[int, Mapping[Sort, float]], ...] = ()
    """Its earlier values to sort by, each until a revision, by ascending revision."""
    session_id: str | None = None
    """The session of an erased memory, whose source is gone."""
    retention: float = 1.0
    """This factor of the relevance and the next one are as they were weighed last."""
    recency: float = 1.5

    @property
    def relevance(self) -> float:
        """The relevance as it was weighed last, whatever is searched for."""
        return self.fact.importance * self.fact.confidence * self.retention * self.recency

    @property
    def kept(self) -> bool:
        """True unless it is forgotten."""
        return self.fact.status is not Status.FORGOTTEN

    @property
    def waiting(self) -> bool:
        """True if it waits for its vectors."""
        logged_only = self.verbatim and self.fact.status is Status.ARCHIVED
        return self.kept and self.vectors is None and not self.refused and not logged_only

    @property
    def active(self) -> bool:
        """True for an active memory."""
        return self.fact.status is Status.ACTIVE

    @property
    def believed(self) -> bool:
        """True for an active fact that isn't a verbatim message."""
        return self.active and not self.verbatim

    @property
    def verbatim(self) -> bool:
        """True for a verbatim message."""
        return self.fact.category is Category.CONVERSATION

    @property
    def version(self) -> FactVersion:
        """The present state as a version."""
        return FactVersion(
            version=self.fact.version,
            at=self.changed_at,
            action=self.action,
            reason=self.reason,
            fact=self.fact,
        )


ItemPlace = tuple[str, tuple[str, ...], str]
"""User, namespace and key."""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item in its present state."""

    num: int
    item: Item
    terms: frozenset[str]
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    """By path."""
    waiting: bool = True
    """True until it has been embedded."""

    @property
    def kept(self) -> KeptItem:
        """The item with its number."""
        return KeptItem(self.num, self.item)


@dataclass(slots=True)
class Tables:
    """A state of the ledger. A committed one never changes."""

    changes: int = 0
    """Number of revisions taken, by all users."""
    revisions: dict[str, int] = field(default_factory=dict)
    """By user: revision of the latest change."""
    facts: dict[str, Row] = field(default_factory=dict)
    """By id, in the order written."""
    unindexed: dict[tuple[str, int], str] = field(default_factory=dict)
    """Ids of the memories that the index lacks, by user and number."""
    lines: dict[str, Line] = field(default_factory=dict)
    """By id, in the order written."""
    cursors: dict[tuple[str, str, CursorStage], Cursor] = field(default_factory=dict)
    marks: dict[tuple[str, str], Mark] = field(default_factory=dict)
    """By job and user."""
    meta: dict[str, str] = field(default_factory=dict)
    redactions: dict[SessionKey, Redact] = field(default_factory=dict)
    runs: tuple[JobRun, ...] = ()
    prompts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Records as JSON by user, the oldest first."""
    items: dict[ItemPlace, ItemRow] = field(default_factory=dict)
    item_number: int = 0
    """The highest number of an item so far."""
    events: dict[int, MemoryEvent] = field(default_factory=dict)
    """By number, without what is read from the memory's row."""

    def copy(self) -> Tables:
        """Return a state to change, without copying the immutable values in it."""
        return replace(
            self,
            revisions=self.revisions.copy(),
            facts=self.facts.copy(),
            unindexed=self.unindexed.copy(),
            lines=self.lines.copy(),
            cursors=self.cursors.copy(),
            marks=self.marks.copy(),
            meta=self.meta.copy(),
            redactions=self.redactions.copy(),
            prompts=self.prompts.copy(),
            items=self.items.copy(),
            events=self.events.copy(),
        )

    def put(self, row: Row) -> None:
        """Put a changed memory in its place; the index lacks it, unless it never had vectors."""
        self.facts[row.fact.id] = row
        if row.vectors is not None or row.fact.version > 1:
            self.unindexed[row.fact.user_id, row.num] = row.fact.id

    def of(self, user_id: str | None) -> Iterator[Row]:
        """Yield the memories of a user, or all, in the order written."""
        return (row for row in self.facts.values() if user_id in (None, row.fact.user_id))


class Store:
    """The committed state, which each transaction replaces as a whole. Thread-safe."""

    def __init__(self, observe: Callable[[Event], None]) -> None:
        self._lock = Contended("ledger", FairLock(), observe)
        self._present = Tables()
        self._closed = False
        self.bell = Bell()
        """Rings after each transaction of changes, and at the end."""

    def snapshot(self) -> Tables:
        """Return the committed state, which is immutable. Raises StoreClosedError."""
        if self._closed:
            raise StoreClosedError("this memory has been closed")
        return self._present

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other writers out. Reentrant."""
        with self._lock:
            yield

    @contextmanager
    def transaction(self) -> Iterator[Tables]:
        """Lend a copy of the committed state; commit it unless the body raises. Not reentrant."""
        with self._lock:
            draft = self.snapshot().copy()
            yield draft
            self._present = draft

    def close(self) -> None:
        """Refuse further use, after the transaction under way."""
        with self._lock:
            self._closed = True
        self.bell.ring()


class Part:
    """A part of the ledger: reads snapshots and writes in transactions of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
