"""A snapshot of one user's memories, read by one search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category
from semantic_memory.retrieval.bm25 import Mask, Scores
from semantic_memory.retrieval.codes import Codes, nearest
from semantic_memory.retrieval.growing import Columns, Segments
from semantic_memory.retrieval.order import top
from semantic_memory.retrieval.strings import Chosen

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A partition's rows, filtered and matched by words, as arrays of shape (rows,).

    Later changes of the partition don't reach it, so it is read without a lock.
    """

    columns: Columns
    """The rows; see `semantic_memory.retrieval.partition.COLUMNS`."""
    slots: NDArray[Any]
    """The places in sessions, each with the slots before and behind it (-1: none)."""
    sessions: int
    """Number of sessions."""
    session_codes: Mapping[str, int]
    """Codes of the sessions in the column `session_id`."""
    ids: Sequence[str]
    """By row: ids of the memories."""
    said_in: Sequence[tuple[str, ...]]
    """By row: `session/message` for every message that says the memory."""
    texts: Sequence[tuple[str, str | None] | None]
    """By row: text and speaker of an embedded fact; None for other rows."""
    followed_by: Mapping[str, Sequence[int]]
    """By the id of an earlier statement: rows that probably change it, also those that died."""
    categories: tuple[Category, ...]
    """The categories, by the code in the column `category`."""
    speakers: tuple[str, ...]
    """Names of the speakers, by the code in the column `speaker`."""
    windows: Segments | None
    sentences: Segments | None
    admitted: Mask
    """The rows that pass the filters of the search."""
    lexical: Scores
    """BM25 of each row for the words of the search, in [0, 1]."""

    codes: Codes | None = None
    """Sign codes of the first part of `windows`, if that is read from a file."""

    def __len__(self) -> int:
        return len(self.columns)

    def near(self, vector: Matrix, number: int) -> Rows:
        """Return about `number` admitted rows with the windows nearest to `vector`, by their codes.

        As many come besides of those that no file holds. Ascending.
        """
        if self.windows is None or self.codes is None:
            return np.zeros(0, dtype=np.intp)
        first, rest = self.windows
        scores = np.full(len(self), -1.0, dtype=np.float32)
        rest.best(vector, None, scores)
        later = np.unique(rest.owners[self.admitted[rest.owners]])
        best = later[top(scores[later], number)]
        places = nearest(self.codes, vector, number, self.admitted[first.owners])
        return np.union1d(first.owners[places], best)

    def surrounded(self, rows: Rows) -> Rows:
        """Return rows with those beside them in their sessions, and those that follow them."""
        if self.followed_by:
            newer = (self.followed_by.get(self.ids[row], ()) for row in rows.tolist())
            rows = np.union1d(rows, np.fromiter(chain.from_iterable(newer), np.intp))
        slots = self.columns["slot"][rows]
        slots = slots[slots >= 0]
        if not len(slots):
            return rows
        beside = np.zeros(len(self.slots) + 1, dtype=np.bool_)  # the last place is that of "none"
        for own in (slots, self.slots["before"][slots], self.slots["behind"][slots]):
            beside[own] = True
        beside[-1] = False
        return np.union1d(rows, np.flatnonzero(beside[self.columns["slot"]]))

    def chosen(self, rows: Rows) -> Snapshot:
        """Return a snapshot of some rows alone, which are given in ascending order."""
        columns = self.columns[rows]
        used = np.unique(columns["slot"])
        used = used[used >= 0]
        renumbered = np.full(len(self.slots) + 1, -1, dtype=np.int32)  # the last: of "none", -1
        renumbered[used] = np.arange(len(used))
        columns = Columns({**columns.arrays, "slot": renumbered[columns["slot"]]})
        slots = self.slots[used]
        for side in ("before", "behind"):
            slots[side] = renumbered[slots[side]]
        ids = [self.ids[row] for row in rows.tolist()]
        places = {row: place for place, row in enumerate(rows.tolist())}
        followed_by = {
            one: [places[row] for row in self.followed_by[one] if row in places]
            for one in ids
            if one in self.followed_by
        }
        return replace(
            self,
            columns=columns,
            slots=slots,
            ids=ids,
            said_in=Chosen(self.said_in, rows),
            texts=Chosen(self.texts, rows),
            followed_by=followed_by,
            windows=self.windows and self.windows.chosen(rows),
            sentences=self.sentences and self.sentences.chosen(rows),
            admitted=self.admitted[rows],
            lexical=self.lexical[rows],
            codes=None,
        )

    def dense(self, vector: Matrix) -> Scores:
        """Return the cosine of `vector` to each row's nearest window; 0 where not embedded yet."""
        scores: Scores = np.where(self.columns["embedded"], -1.0, 0.0).astype(np.float32)
        if self.windows is not None:
            self.windows.best(vector, None, scores)
        return scores

    def sentence(self, vector: Matrix, wanted: Mask, dense: Scores) -> Scores:
        """Return the cosine of `vector` to each wanted row's nearest sentence.

        `dense` for the rows that aren't wanted or have no sentences.
        """
        scores: Scores = np.full(len(self), -1.0, dtype=np.float32)
        if self.sentences is not None:
            self.sentences.best(vector, wanted, scores)
        return np.where(scores > -1.0, scores, dense)

    def alike(self, rows: Sequence[int]) -> Scores:
        """Return the cosine of each of these embedded rows to each, shape (rows, rows)."""
        if self.windows is None:
            return np.zeros((len(rows), len(rows)), dtype=np.float32)
        return self.windows.cosines(rows, rows)

    def outdated(self) -> Mask:
        """Return the rows that are messages from which a superseded fact was drawn."""
        mask: Mask = self.columns["verbatim"] & (self.columns["slot"] >= 0)
        mask[mask] = self.slots["outdated"][self.columns["slot"][mask]]
        return mask
