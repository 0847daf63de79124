"""One user's memories as columns in RAM: what filters, ranking and both kinds of matching read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.changes import FactVectors, Matrix
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Delta, Trait, TraitRow
from semantic_memory.domain.text import figures, lexical_text, stems
from semantic_memory.domain.values import covers
from semantic_memory.retrieval.bm25 import BM25, Mask, Scores, Statistics
from semantic_memory.retrieval.growing import Growing, GrowingVectors

CATEGORIES = tuple(Category)
_CATEGORY = {category.value: code for code, category in enumerate(CATEGORIES)}
_STATUS = {status.value: code for code, status in enumerate(Status)}

_COLUMNS = np.dtype(
    [
        ("alive", "?"),
        ("embedded", "?"),
        ("verbatim", "?"),  # a message as it was said
        ("category", "i1"),
        ("status", "i1"),
        ("session", "i4"),  # -1: of no session
        (
            "slot",
            "i4",
        ),  # place in a session, shared by a message and the facts drawn from it; or -1
        ("speaker", "i4"),  # -1: nobody named
        ("own", "?"),  # said by the user, or told about them
        ("asks", "?"),  # a question
        ("confidence", "f8"),
        ("importance", "f8"),
        ("endurance", "f8"),
        ("created_at", "f8"),
        ("stated_at", "f8"),
        ("valid_from", "f8"),
        ("valid_to", "f8"),
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

_ROW_OVERHEAD = 600  # bytes of strings, tuples and postings a memory, besides its text


class Partition:
    """One user's memories, kept current by deltas from the ledger.

    A row is a memory in one state; a changed memory gets a new row and its old one dies. Hold
    `lock` while reading what must belong together.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.revision = 0
        self.ids: list[str] = []
        self.said_in: list[tuple[str, ...]] = []
        """By row: `session/message` for every message that says the memory."""
        self.speakers: list[str] = []
        """Names of the speakers, by the code in the column `speaker`."""
        self.figures: dict[int, frozenset[str]] = {}
        """By row: numbers and days in a fact that has some; messages aside."""
        self._row_of: dict[int, int] = {}
        self._superseded: set[int] = set()
        self._tags: dict[int, tuple[str, ...]] = {}
        self._sessions: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._slot_of: dict[tuple[int, int], int] = {}
        self._columns = Growing(_COLUMNS)
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
    def columns(self) -> NDArray[Any]:
        """The columns, by row; see `_COLUMNS`."""
        return self._columns.view

    @property
    def slots(self) -> NDArray[Any]:
        """The places in sessions, each with the slots before and behind it (-1: none)."""
        return self._slots.view

    @property
    def session_count(self) -> int:
        """Number of sessions seen."""
        return len(self._sessions)

    @property
    def wasteful(self) -> bool:
        """Whether so many rows have died that loading afresh is cheaper."""
        return self._dead > 64 + len(self) // 4

    @property
    def nbytes(self) -> int:
        """About how much memory this takes."""
        vectors = sum(part.nbytes for part in (self._windows, self._sentences) if part)
        rows = len(self) * _ROW_OVERHEAD + 4 * self._characters
        return vectors + self._columns.nbytes + self._slots.nbytes + rows

    def admitted(self, filters: Filters) -> Mask:
        """Which rows pass `filters`, shape (rows,): what `Filters.admits` says, by column."""
        columns = self.columns
        mask: Mask = columns["alive"].copy()
        if filters.as_of is None:
            mask &= columns["status"] == _STATUS[Status.ACTIVE]
        else:
            at = filters.as_of.timestamp()
            mask &= np.isin(columns["status"], (_STATUS[Status.ACTIVE], _STATUS[Status.SUPERSEDED]))
            mask &= (columns["valid_from"] <= at) & (at < columns["valid_to"])
        if filters.categories is not None:
            mask &= np.isin(columns["category"], [_CATEGORY[name] for name in filters.categories])
        if filters.since is not None:
            mask &= columns["created_at"] >= filters.since.timestamp()
        if filters.until is not None:
            mask &= columns["created_at"] < filters.until.timestamp()
        if filters.min_confidence > 0:
            mask &= columns["confidence"] >= filters.min_confidence
        if filters.session_id is not None:
            mask &= columns["session"] == self._sessions.get(filters.session_id, -2)
        if filters.tags:
            tagged = [
                row
                for row, own in self._tags.items()
                if all(any(covers(tag, one) for one in own) for tag in filters.tags)
            ]
            mask &= np.isin(np.arange(len(self)), tagged)
        return mask

    def dense(self, vector: Matrix) -> Scores:
        """Cosine of `vector` to each row's nearest window; 0 where not embedded yet."""
        scores: Scores = np.where(self.columns["embedded"], -1.0, 0.0).astype(np.float32)
        if self._windows is not None:
            self._windows.best(vector, None, scores)
        return scores

    def sentence(self, vector: Matrix, wanted: Mask, dense: Scores) -> Scores:
        """Cosine to each wanted row's nearest sentence; `dense` for the rest and the undivided."""
        scores: Scores = np.full(len(self), -1.0, dtype=np.float32)
        if self._sentences is not None:
            self._sentences.best(vector, wanted, scores)
        return np.where(scores > -1.0, scores, dense)

    def alike(self, rows: Sequence[int]) -> Scores:
        """Cosine of each of these embedded rows to each, shape (rows, rows)."""
        if self._windows is None:
            return np.zeros((len(rows), len(rows)), dtype=np.float32)
        vectors = self._windows.first(rows)
        similar: Scores = vectors @ vectors.T
        return similar

    def outdated(self) -> Mask:
        """Which rows are messages that tell what no longer holds."""
        columns = self.columns
        mask: Mask = columns["verbatim"] & (columns["slot"] >= 0)
        if not self._superseded:
            return np.zeros_like(mask)
        mask[mask] = self.slots["outdated"][columns["slot"][mask]]
        return mask

    def lexical(
        self,
        terms: Iterable[str],
        statistics: Statistics | None = None,
    ) -> Scores:
        """BM25 of each row for a query's stemmed words, in [0, 1]."""
        return self._bm25.score(terms, self.columns["alive"], statistics=statistics)

    # ---------------------------------------------------------------- following the ledger

    def apply(self, delta: Delta) -> None:
        """Take over what changed."""
        for num in delta.removed:
            self._kill(num)
        first = len(self.ids)
        fresh = [self._append(row) for row in delta.rows]
        if fresh:
            self._columns.extend(np.array(fresh, dtype=_COLUMNS))
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
            self.columns["alive"][row] = False
            self._tags.pop(row, None)
            self.figures.pop(row, None)
            self._dead += 1

    def _append(self, row: TraitRow) -> tuple[Any, ...]:
        trait, vectors = row
        self._kill(trait.num)
        number = len(self.ids)
        self._row_of[trait.num] = number
        self.ids.append(trait.id)
        self.said_in.append(trait.said_in)
        if trait.tags:
            self._tags[number] = trait.tags
        if (
            vectors is not None
            and trait.category != Category.CONVERSATION
            and (values := figures(trait.content))
        ):
            self.figures[number] = values
        text = lexical_text(trait.content, trait.speaker, trait.created_at)
        self._bm25.add(stems(text))
        self._characters += len(text)
        session, slot = self._place(trait)
        self._note_outdated(trait, slot)
        return (
            True,
            vectors is not None,
            trait.category == Category.CONVERSATION,
            _CATEGORY[trait.category],
            _STATUS[trait.status],
            session,
            slot,
            self._speaker(trait.speaker),
            trait.role in (None, "user"),
            _asks(trait),
            trait.confidence,
            trait.importance,
            trait.endurance,
            trait.created_at,
            trait.stated_at,
            trait.valid_from,
            trait.valid_to,
        )

    def _note_outdated(self, trait: Trait, slot: int) -> None:
        """Mark the place of a fact that was superseded, until it is restored."""
        superseded = trait.status == Status.SUPERSEDED
        if slot >= 0 and (superseded or trait.num in self._superseded):
            self.slots["outdated"][slot] = superseded
        (self._superseded.add if superseded else self._superseded.discard)(trait.num)

    def _speaker(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self._speakers:
            self._speakers[name] = len(self.speakers)
            self.speakers.append(name)
        return self._speakers[name]

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
                self.slots["behind"][before] = slot
            if behind >= 0:
                self.slots["before"][behind] = slot
        if trait.category == Category.CONVERSATION:
            self.slots["asks"][slot] = _asks(trait)
        return session, slot


def _asks(trait: Trait) -> bool:
    return trait.content.rstrip().endswith(("?", "？"))
