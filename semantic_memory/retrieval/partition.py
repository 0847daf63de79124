"""One user's memories as columns in RAM, for filters, ranking and both kinds of matching."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.conditions import (
    OPERATORS,
    AllOf,
    Among,
    AnyOf,
    Compared,
    Condition,
    Not,
    OneOf,
    Tagged,
    Valued,
    Worded,
)
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Delta, Trait, TraitRow
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.text import figures, lexical_text, stems
from semantic_memory.domain.values import levels
from semantic_memory.retrieval.bm25 import BM25, Mask, Statistics
from semantic_memory.retrieval.growing import Growing, GrowingVectors
from semantic_memory.retrieval.snapshot import Snapshot

CATEGORIES = tuple(Category)
_CATEGORY = {category.value: code for code, category in enumerate(CATEGORIES)}
_STATUS = {status.value: code for code, status in enumerate(Status)}

COLUMNS = np.dtype(
    [
        ("embedded", "?"),
        ("verbatim", "?"),  # a message as it was said
        ("category", "i1"),
        ("status", "i1"),
        ("session_id", "i4"),  # -1: of no session
        ("slot", "i4"),  # place in a session, shared by a message and facts drawn from it; or -1
        ("speaker", "i4"),  # -1: nobody named
        ("agent_id", "i4"),  # 0: of no agent
        ("run_id", "i4"),  # 0: of no run
        ("own", "?"),  # said by the user, or by nobody in particular
        ("asks", "?"),  # a question
        ("confidence", "f8"),
        ("importance", "f8"),
        ("endurance", "f8"),
        ("corroborations", "i4"),
        ("created_at", "f8"),
        ("stated_at", "f8"),
        ("used_at", "f8"),  # -inf: never
        ("valid_from", "f8"),
        ("valid_to", "f8"),
        ("expires_at", "f8"),
    ]
)
_SLOTS = np.dtype(
    [
        ("session", "i4"),
        ("before", "i4"),
        ("behind", "i4"),
        ("asks", "?"),
        ("outdated", "?"),  # a fact that was drawn from it no longer holds
    ]
)

_UNKNOWN = -2  # the code of a value that no row has
_ROW_OVERHEAD = 600  # bytes of strings, tuples and postings a memory, besides its text


class Partition:
    """One user's memories, kept current by deltas from the ledger.

    A row is a memory in one state, and never changes: a changed memory gets a new row, and its old
    one dies. Hold `lock` while applying deltas and taking snapshots.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.revision = 0
        self._ids: list[str] = []
        self._said_in: list[tuple[str, ...]] = []
        self._figured: dict[int, tuple[str, str | None]] = {}
        self._tagged: dict[str, list[int]] = {}  # by tag, those above included; dead rows too
        self._row_of: dict[int, int] = {}
        self._superseded: set[int] = set()
        self._sessions: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._agents = {"": 0}
        self._runs = {"": 0}
        self._slot_of: dict[tuple[int, int], int] = {}
        self._columns = Growing(COLUMNS)
        self._alive = Growing(np.bool_)
        self._slots = Growing(_SLOTS)
        self._windows: GrowingVectors | None = None
        self._sentences: GrowingVectors | None = None
        self._bm25 = BM25()
        self._characters = 0
        self._dead = 0

    # ---------------------------------------------------------------- reading

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def wasteful(self) -> bool:
        """True if so many rows are dead that loading the partition anew is cheaper."""
        return self._dead > 64 + len(self) // 4

    @property
    def nbytes(self) -> int:
        """Estimated RAM, in bytes."""
        vectors = sum(part.nbytes for part in (self._windows, self._sentences) if part)
        rows = len(self) * _ROW_OVERHEAD + 4 * self._characters
        return vectors + self._columns.nbytes + self._slots.nbytes + rows

    def snapshot(
        self,
        filters: Filters = NO_FILTERS,
        terms: Sequence[str] = (),
        statistics: Statistics | None = None,
    ) -> Snapshot:
        """Return the present memories, filtered, and scored for stemmed words.

        Messages that are kept in their log alone are never admitted, whatever the filters.
        `statistics` as in `BM25.score`. Only what changes in place is copied. Raises ValueError
        for filters by words or metadata, which no column holds: the ledger resolves them into ids.
        """
        return Snapshot(
            columns=self._columns.view,
            slots=self._slots.view.copy(),
            sessions=len(self._sessions),
            session_codes=self._sessions,
            ids=self._ids,
            said_in=self._said_in,
            figured=self._figured,
            speakers=tuple(self._speakers),
            windows=None if self._windows is None else self._windows.view,
            sentences=None if self._sentences is None else self._sentences.view,
            admitted=self._admitted(filters),
            lexical=self._bm25.score(terms, self._alive.view, statistics=statistics),
        )

    def _admitted(self, filters: Filters) -> Mask:
        columns = self._columns.view
        archived = columns["status"] == _STATUS[Status.ARCHIVED]
        # only messages observed with `recall=False` are archived
        mask: Mask = self._alive.view & ~(columns["verbatim"] & archived)
        for condition in filters.conditions():
            mask &= self._meeting(condition)
        return mask

    def _meeting(self, condition: Condition) -> Mask:
        """Return the rows that meet a condition, shape (rows,)."""
        columns = self._columns.view
        match condition:
            case OneOf(field, values):
                coded = self._codes_of(field)
                codes = [coded.get(one, _UNKNOWN) for one in values]
                column = columns[field]
                return column == codes[0] if len(codes) == 1 else np.isin(column, codes)
            case Compared(field, comparison, value):
                number = value.timestamp() if isinstance(value, datetime) else value
                meeting: Mask = OPERATORS[comparison](columns[field], number)
                return meeting
            case Tagged(tag):
                return self._having(tag)
            case Among(ids):
                return np.fromiter((one in ids for one in self._ids), np.bool_, len(self))
            case Unexpired():
                return self._unexpired(condition)
            case AllOf(conditions) | AnyOf(conditions):
                every = isinstance(condition, AllOf)
                joint: Mask = np.full(len(self), every)
                for one in conditions:
                    joint = joint & self._meeting(one) if every else joint | self._meeting(one)
                return joint
            case Not(one):
                return ~self._meeting(one)
            case Worded() | Valued():
                raise ValueError("a partition has no column for words and metadata")

    def _codes_of(self, field: str) -> Mapping[str, int]:
        """Return the codes of a column's values."""
        return {
            "category": _CATEGORY,
            "status": _STATUS,
            "session_id": self._sessions,
            "agent_id": self._agents,
            "run_id": self._runs,
        }[field]

    def _having(self, tag: str) -> Mask:
        mask: Mask = np.zeros(len(self), dtype=np.bool_)
        mask[self._tagged.get(tag, [])] = True
        return mask

    def _unexpired(self, condition: Unexpired) -> Mask:
        columns, at, periods = self._columns.view, condition.at, condition.periods
        stated = columns["stated_at"]
        expired: Mask = columns["expires_at"] <= at.timestamp()
        for category, period in periods.categories.items():
            own = columns["category"] == _CATEGORY[category]
            expired |= own & (stated <= (at - period).timestamp())
        for tag, period in periods.tags.items():
            expired |= self._having(tag) & (stated <= (at - period).timestamp())
        unexpired: Mask = ~expired | np.isinf(columns["endurance"])  # or pinned
        return unexpired

    # ---------------------------------------------------------------- following the ledger

    def apply(self, delta: Delta) -> None:
        """Apply a delta."""
        for num in delta.removed:
            self._kill(num)
        first = len(self._ids)
        fresh = [self._append(row) for row in delta.rows]
        if fresh:
            self._columns.extend(np.array(fresh, dtype=COLUMNS))
            self._alive.extend(np.ones(len(fresh), dtype=np.bool_))
        embedded = {
            first + place: row.vectors
            for place, row in enumerate(delta.rows)
            if row.vectors is not None
        }
        if embedded:
            self._take_vectors(embedded)
        self.revision = max(self.revision, delta.revision)

    def _take_vectors(self, embedded: dict[int, FactVectors]) -> None:
        rows, vectors = list(embedded), list(embedded.values())
        if self._windows is None or self._sentences is None:
            dimension = vectors[0].windows.shape[1]
            self._windows = GrowingVectors(dimension, np.float32)
            self._sentences = GrowingVectors(dimension, np.float16)
        self._windows.extend(rows, [own.windows for own in vectors])
        self._sentences.extend(rows, [own.sentences for own in vectors])

    def _kill(self, num: int) -> None:
        row = self._row_of.pop(num, None)
        if row is not None:
            self._alive.view[row] = False
            self._dead += 1

    def _append(self, row: TraitRow) -> tuple[Any, ...]:
        trait, vectors = row
        self._kill(trait.num)
        number = len(self._ids)
        self._row_of[trait.num] = number
        self._ids.append(trait.id)
        self._said_in.append(trait.said_in)
        for level in {level for tag in trait.tags for level in levels(tag)}:
            self._tagged.setdefault(level, []).append(number)
        if (
            vectors is not None
            and trait.category != Category.CONVERSATION
            and figures(trait.content)
        ):
            self._figured[number] = (trait.content, trait.speaker)
        text = lexical_text(trait.content, trait.speaker, trait.created_at)
        self._bm25.add(stems(text))
        self._characters += len(text)
        session, slot = self._place(trait)
        self._note_outdated(trait, slot)
        return (
            vectors is not None,
            trait.category == Category.CONVERSATION,
            _CATEGORY[trait.category],
            _STATUS[trait.status],
            session,
            slot,
            self._speaker(trait.speaker),
            self._agents.setdefault(trait.agent_id, len(self._agents)),
            self._runs.setdefault(trait.run_id, len(self._runs)),
            trait.role in (None, "user"),
            _asks(trait),
            trait.confidence,
            trait.importance,
            trait.endurance,
            trait.corroborations,
            trait.created_at,
            trait.stated_at,
            trait.used_at,
            trait.valid_from,
            trait.valid_to,
            trait.expires_at,
        )

    def _note_outdated(self, trait: Trait, slot: int) -> None:
        """Mark the place of a superseded fact, until the fact is restored."""
        superseded = trait.status == Status.SUPERSEDED
        if slot >= 0 and (superseded or trait.num in self._superseded):
            self._slots.view["outdated"][slot] = superseded
        (self._superseded.add if superseded else self._superseded.discard)(trait.num)

    def _speaker(self, name: str | None) -> int:
        if name is None:
            return -1
        return self._speakers.setdefault(name, len(self._speakers))

    def _place(self, trait: Trait) -> tuple[int, int]:
        if trait.session_id is None:
            return -1, -1
        session = self._sessions.setdefault(trait.session_id, len(self._sessions))
        if trait.position is None:
            return session, -1
        slot = self._slot_of.get((session, trait.position))
        if slot is None:
            slot = self._slot_of[session, trait.position] = len(self._slots)
            before = self._slot_of.get((session, trait.position - 1), -1)
            behind = self._slot_of.get((session, trait.position + 1), -1)
            self._slots.extend(np.array([(session, before, behind, False, False)], dtype=_SLOTS))
            if before >= 0:
                self._slots.view["behind"][before] = slot
            if behind >= 0:
                self._slots.view["before"][behind] = slot
        if trait.category == Category.CONVERSATION:
            self._slots.view["asks"][slot] = _asks(trait)
        return session, slot


def _asks(trait: Trait) -> bool:
    return trait.content.rstrip().endswith(("?", "？"))
