"""One user's memories as columns in RAM, for filters, ranking and both kinds of matching."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from semantic_memory.domain.retelling import retells
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.values import levels
from semantic_memory.retrieval.bm25 import BM25, KeptPostings, Mask, Statistics
from semantic_memory.retrieval.codes import Codes, codes_of
from semantic_memory.retrieval.ended import Ended
from semantic_memory.retrieval.growing import Growing, GrowingColumns, GrowingVectors, Vectors
from semantic_memory.retrieval.sealed import Pieces
from semantic_memory.retrieval.slots import SLOTS, Slots
from semantic_memory.retrieval.snapshot import Snapshot
from semantic_memory.retrieval.strings import NO_STRINGS, Appended, Strings

_CATEGORIES = {category.value: code for code, category in enumerate(Category)}
_STATUS = {status.value: code for code, status in enumerate(Status)}

COLUMNS = np.dtype(
    [
        ("embedded", "?"),
        ("verbatim", "?"),  # a message as it was said
        ("category", "i4"),
        ("status", "i1"),
        ("session_id", "i4"),  # -1: of no session
        ("slot", "i4"),  # place in a session, shared by a message and facts drawn from it; or -1
        ("speaker", "i4"),  # -1: nobody named
        ("agent_id", "i4"),  # 0: of no agent
        ("run_id", "i4"),  # 0: of no run
        ("own", "?"),  # said by the user, or by nobody in particular
        ("asks", "?"),  # a question, or a fact that carries what it answers
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

FORM = f"3 {COLUMNS.descr} {SLOTS.descr}"
"""The form in which partitions are kept: another number if anything in it, the stems included,
is derived otherwise."""

_UNKNOWN = -2  # the code of a value that no row has
_ROW_OVERHEAD = 770  # bytes of columns, strings, tuples and postings a memory, besides its text
_KEPT_OVERHEAD = 210  # bytes of the columns of a memory that was kept, of its id and its place


class Kept(NamedTuple):
    """A partition as a file keeps it."""

    head: Mapping[str, Any]
    """The small parts, as JSON holds them."""
    arrays: Mapping[str, Pieces]
    """The large parts; they are read where they lie."""


class Partition:
    """One user's memories, kept current by deltas from the ledger.

    A row is a memory in one state, and never changes: a changed memory gets a new row, and its old
    one dies. Hold `lock` while applying deltas and taking snapshots.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.revision = 0
        self.kept = 0
        """Number of rows that a file holds."""
        self._ids: list[str] = []
        self._kept_ids = NO_STRINGS
        self._said_in = Appended(NO_STRINGS, _places)
        self._texts = Appended(NO_STRINGS, _text)
        self._tagged: dict[str, array[int]] = {}  # by tag, those above included; dead rows too
        self._nums = Growing(np.int64)
        self._row_of: dict[int, int] = {}  # of those that no file holds
        self._at_first = 0  # number of rows read from a file
        self._superseded: set[int] = set()
        self._followed_by: dict[str, list[int]] = {}
        self.ended = Ended()
        """The superseded facts, by where they were said."""
        self._categories = _CATEGORIES
        self._by_code = tuple(Category)
        self._speakers: dict[str, int] = {}
        self._agents = {"": 0}
        self._runs = {"": 0}
        self._columns = GrowingColumns(COLUMNS)
        self._alive = Growing(np.bool_)
        self._slots = Slots()
        self._windows: GrowingVectors | None = None
        self._sentences: GrowingVectors | None = None
        self._codes: Codes | None = None  # of the windows that a file holds
        self._bm25 = BM25()
        self._characters = 0
        self._dead = 0

    # ---------------------------------------------------------------- reading

    def __len__(self) -> int:
        return len(self._nums)

    @property
    def wasteful(self) -> bool:
        """True if so many rows are dead that loading the partition again is cheaper."""
        return self._dead > 64 + len(self) // 4

    @property
    def nbytes(self) -> int:
        """Estimated RAM, in bytes."""
        return self._at_first * _KEPT_OVERHEAD + self.grown

    @property
    def grown(self) -> int:
        """Estimated RAM, in bytes, of the rows that weren't read from a file."""
        vectors = sum(part.nbytes for part in (self._windows, self._sentences) if part)
        rows = (len(self) - self._at_first) * _ROW_OVERHEAD
        return vectors + rows + 4 * self._characters

    @property
    def living(self) -> int:
        """Number of rows that aren't dead."""
        return len(self) - self._dead

    @property
    def whole(self) -> bool:
        """True if no row is dead."""
        return not self._dead

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
            sessions=len(self._slots.sessions),
            session_codes=self._slots.sessions,
            ids=self._ids,
            said_in=self._said_in,
            texts=self._texts,
            followed_by=self._followed_by,
            categories=self._by_code,
            speakers=tuple(self._speakers),
            windows=None if self._windows is None else self._windows.view,
            sentences=None if self._sentences is None else self._sentences.view,
            codes=self._codes,
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
            "category": self._categories,
            "status": _STATUS,
            "session_id": self._slots.sessions,
            "agent_id": self._agents,
            "run_id": self._runs,
        }[field]

    def _having(self, tag: str) -> Mask:
        mask: Mask = np.zeros(len(self), dtype=np.bool_)
        mask[np.frombuffer(self._tagged.get(tag, _NO_ROWS), np.uint32)] = True
        return mask

    def _unexpired(self, condition: Unexpired) -> Mask:
        columns, at, periods = self._columns.view, condition.at, condition.periods
        stated = columns["stated_at"]
        expired: Mask = columns["expires_at"] <= at.timestamp()
        for category, period in periods.categories.items():
            own = columns["category"] == self._categories.get(category, _UNKNOWN)
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
            self.ended.drop(num)
        if delta.rows:
            self._append(delta.rows)
        self.revision = max(self.revision, delta.revision)

    def _append(self, rows: Sequence[TraitRow]) -> None:
        first = len(self)
        asks: dict[int, bool] = {}
        outdated: dict[int, bool] = {}
        embedded: dict[int, FactVectors] = {}
        columns: list[tuple[Any, ...]] = []
        for number, (trait, _, vectors) in enumerate(rows, start=first):
            self._kill(trait.num)
            self._row_of[trait.num] = number
            if vectors is not None:
                embedded[number] = vectors
            session, slot = self._slots.take(trait.session_id, trait.position)
            is_asked = trait.content.rstrip().endswith(("?", "？"))
            if slot >= 0:
                if trait.category == Category.CONVERSATION:
                    asks[slot] = is_asked
                superseded = trait.status == Status.SUPERSEDED
                if superseded or trait.num in self._superseded:  # or restored
                    outdated[slot] = superseded
            is_embedded = vectors is not None
            self._note(number, trait, embedded=is_embedded)
            columns.append(self._coded(trait, session, slot, embedded=is_embedded, asks=is_asked))
        self._slots.settle(asks, outdated)
        self._columns.extend(columns)
        self._alive.extend(np.ones(len(rows), dtype=np.bool_))
        self._bm25.extend([row.stems for row in rows])
        self._nums.extend([row.trait.num for row in rows])
        if embedded:
            self._take_vectors(embedded)

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
        if row is None and self._at_first:
            row = self._kept_row(num)
        if row is not None:
            self._alive.view[row] = False
            self._dead += 1

    def _kept_row(self, num: int) -> int | None:
        """Return the living row of a memory among those read from a file."""
        order, nums = self._kept_order, self._nums.view
        place = int(np.searchsorted(nums[: self._at_first], num, sorter=order))
        for row in order[place:]:  # the dead ones, and at most one that lives
            if nums[row] != num:
                break
            if self._alive.view[row]:
                return int(row)
        return None

    @cached_property
    def _kept_order(self) -> NDArray[np.intp]:
        return np.argsort(self._nums.view[: self._at_first])

    def _note(self, number: int, trait: Trait, *, embedded: bool) -> None:
        """Note what no column holds of a row."""
        self._ids.append(trait.id)
        self._said_in.append(trait.said_in)
        self._characters += len(trait.content)
        self.ended.take(trait)
        for older in trait.follows:
            self._followed_by.setdefault(older, []).append(number)
        for level in _all_levels(trait.tags):
            self._tagged.setdefault(level, array("I")).append(number)
        states = embedded and trait.category != Category.CONVERSATION
        self._texts.append((trait.content, trait.speaker) if states else None)
        superseded = trait.status == Status.SUPERSEDED
        (self._superseded.add if superseded else self._superseded.discard)(trait.num)

    def _category(self, category: str) -> int:
        """Return the code of a category; an application's own gets one when it comes."""
        if category not in self._categories:
            self._categories = {**self._categories, category: len(self._categories)}
            self._by_code = (*self._by_code, Category(category))
        return self._categories[category]

    def _coded(
        self, trait: Trait, session: int, slot: int, *, embedded: bool, asks: bool
    ) -> tuple[Any, ...]:
        """Return the columns of a row."""
        speaker = trait.speaker
        return (
            embedded,
            trait.category == Category.CONVERSATION,
            self._category(trait.category),
            _STATUS[trait.status],
            session,
            slot,
            -1 if speaker is None else self._speakers.setdefault(speaker, len(self._speakers)),
            self._agents.setdefault(trait.agent_id, len(self._agents)),
            self._runs.setdefault(trait.run_id, len(self._runs)),
            trait.role in (None, "user"),
            asks or (trait.category != Category.CONVERSATION and retells(trait.content)),
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

    # ---------------------------------------------------------------- a file

    def keep(self) -> Kept:
        """Return what `restored` needs. Later changes don't reach it."""
        postings = self._bm25.keep()
        strings = {
            "ids": self._kept_ids.followed_by(Strings.of(self._ids[self._at_first :])),
            "said_in": self._said_in.pieces(" ".join),
            "texts": self._texts.pieces(_dumped),
            "terms": ((postings.terms.data,), (postings.terms.ends,)),
        }
        arrays: dict[str, Pieces] = {
            "nums": (self._nums.view,),
            "alive": (self._alive.view.copy(),),
            "slots": (self._slots.view.copy(),),
            "positions": (self._slots.positions,),
            "tag_rows": (np.frombuffer(b"".join(map(bytes, self._tagged.values())), np.uint32),),
            "lengths": (postings.lengths,),
            "posting_ends": (postings.ends,),
            "posting_rows": (postings.rows,),
            "posting_counts": (postings.counts,),
        }
        for name, column in self._columns.view.arrays.items():
            arrays[f"column {name}"] = (column,)
        for name, (data, ends) in strings.items():
            arrays |= {name: data, f"{name}_ends": ends}
        for name, vectors in (("windows", self._windows), ("sentences", self._sentences)):
            if vectors is not None:
                parts = vectors.view
                arrays[f"{name}_owners"] = [part.owners for part in parts]
                arrays[name] = [part.rows for part in parts]
        if self._windows is not None:
            first, rest = self._windows.view
            known = codes_of(first.rows) if self._codes is None else self._codes
            arrays["codes"] = (known, codes_of(rest.rows))
        head = {
            "revision": self.revision,
            "sessions": [*self._slots.sessions],
            "speakers": [*self._speakers],
            "agents": [*self._agents],
            "runs": [*self._runs],
            "tags": {tag: len(rows) for tag, rows in self._tagged.items()},
            "ended": self.ended.keep(),
            "followed_by": {older: [*rows] for older, rows in self._followed_by.items()},
        }
        return Kept(head, arrays)

    @classmethod
    def restored(cls, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Partition:
        """Return a partition as it was when it was kept, with `head` and `arrays` of its file."""
        strings = {
            name: Strings(arrays[name], arrays[f"{name}_ends"])
            for name in ("ids", "said_in", "texts", "terms")
        }
        self = cls()
        self.revision = head["revision"]
        self._nums = Growing.behind(arrays["nums"])
        self.kept = self._at_first = len(self._nums)
        self._kept_ids = strings["ids"]
        self._ids = self._kept_ids.read_all()
        self._said_in = Appended(strings["said_in"], _places)
        self._texts = Appended(strings["texts"], _text)
        self._columns = GrowingColumns(
            COLUMNS, {name: arrays[f"column {name}"] for name in COLUMNS.names or ()}
        )
        self._alive.extend(arrays["alive"])
        self._dead = self.kept - int(self._alive.view.sum())
        superseded = self._columns.view["status"] == _STATUS[Status.SUPERSEDED]
        superseded &= self._alive.view
        self._superseded = set(arrays["nums"][superseded].tolist())
        self.ended.take_kept(head["ended"])
        self._followed_by = dict(head["followed_by"])
        self._slots = Slots.restored(
            head["sessions"], arrays["positions"], arrays["slots"].view(SLOTS)
        )
        for named, names in (
            (self._speakers, head["speakers"]),
            (self._agents, head["agents"]),
            (self._runs, head["runs"]),
        ):
            named.update({name: code for code, name in enumerate(names)})
        end = 0
        for tag, number in head["tags"].items():
            rows = arrays["tag_rows"][end : (end := end + number)]
            self._tagged[tag] = array("I", rows.tobytes())
        self._bm25 = BM25(
            KeptPostings(
                arrays["lengths"],
                strings["terms"],
                arrays["posting_ends"],
                arrays["posting_rows"],
                arrays["posting_counts"],
            )
        )
        if "windows" in arrays:
            self._windows, self._sentences = (
                GrowingVectors(
                    arrays[name].shape[1], dtype, Vectors(arrays[f"{name}_owners"], arrays[name])
                )
                for name, dtype in (("windows", np.float32), ("sentences", np.float16))
            )
            self._codes = arrays["codes"]
        return self


_NO_ROWS = array("I")


def _places(kept: str) -> tuple[str, ...]:
    return tuple(kept.split(" ")) if kept else ()


def _text(kept: str) -> tuple[str, str | None] | None:
    content, speaker = json.loads(kept) if kept else (None, None)
    return None if content is None else (content, speaker)


def _dumped(said: tuple[str, str | None] | None) -> str:
    return "" if said is None else json.dumps(said, ensure_ascii=False)


@lru_cache(maxsize=4_096)
def _all_levels(tags: tuple[str, ...]) -> frozenset[str]:
    return frozenset(level for tag in tags for level in levels(tag))
