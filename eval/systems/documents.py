"""Memories as documents: text, vector, and a line for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eval.datasets import History, Memory
from eval.systems import Found
from semantic_memory.context.render import as_data
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import Embedder, InputType, Progress

_BATCH = 256

Reals = NDArray[np.float64]


def line(memory: Memory) -> str:
    """Render a memory as this product does, so that lines cost every system the same tokens."""
    return f"- [{memory.said_at:%Y-%m-%d}] {as_data(memory.spoken)}"


@dataclass(frozen=True)
class Shelf:
    """One user's memories as documents, numbered in order."""

    memories: Sequence[Memory]
    vectors: Matrix
    """Vectors of shape (memories, dimension)."""

    @cached_property
    def texts(self) -> list[str]:
        """Texts to match."""
        return [memory.spoken for memory in self.memories]

    def best(self, scores: Reals, k: int) -> list[Found]:
        """Return the `k` documents of the highest scores; of equal scores the earlier one."""
        order = np.argsort(-scores, kind="stable")[:k]
        return [self.found(int(row), float(scores[row])) for row in order]

    def found(self, row: int, score: float) -> Found:
        """Return document number `row` as a result."""
        memory = self.memories[row]
        return Found([memory.id], score, line(memory))


def shelves(
    histories: Sequence[History], embedder: Embedder, progress: Progress
) -> dict[str, Shelf]:
    """Embed the documents of every user."""
    total = sum(len(history.memories) for history in histories)
    done = 0
    shelved = {}
    for history in histories:
        texts = [memory.spoken for memory in history.memories]
        rows = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            rows.append(embedder.embed(batch, "document"))
            done += len(batch)
            progress("embedding", done, total)
        shelved[history.user_id] = Shelf(history.memories, np.concatenate(rows))
    return shelved


class Vectors:
    """The embedder as a function from texts to lists of floats, as most systems take it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.kind: InputType = "document"
        """Kind of the texts embedded now, as those systems don't pass it."""

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Return a list of floats for each text."""
        rows: list[list[float]] = self._embedder.embed(texts, self.kind).tolist()
        return rows
