"""A snapshot of one user's memories, read by one search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category
from semantic_memory.retrieval.bm25 import Mask, Scores
from semantic_memory.retrieval.growing import Segments


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A partition's rows, filtered and matched by words, as arrays of shape (rows,).

    Later changes of the partition don't reach it, so it is read without a lock.
    """

    columns: NDArray[Any]
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

    def __len__(self) -> int:
        return len(self.columns)

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
