"""Move a question's vector towards those of what answers it.

A question lies near other questions, and near all that shares its subject. A linear map moves it to
where answers lie; vectors of memories stay as they are, so that nothing is embedded again. The
weights in `question_map.npz` were fitted to the questions of `data/gold/talk.jsonl` by `python -m
training map`, for the vectors of one embedder; with another one a question stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_name("question_map.npz")

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class QuestionMap:
    """Linear map of the vectors of one embedder."""

    embedder: str
    matrix: Vector
    """Shape (dimension, dimension)."""

    def moved(self, vector: Vector) -> Vector:
        """Return the unit vector that is compared with memories, shape (dimension,)."""
        # not `@`: BLAS would wake its threads for it, which then spin longer than this takes
        found: Vector = np.einsum("i,ij->j", vector, self.matrix)
        return found / np.linalg.norm(found)


def load(path: Path = FILE) -> QuestionMap:
    """Load weights that `training.question_map` wrote."""
    with np.load(path) as file:
        return QuestionMap(str(file["embedder"]), file["matrix"].astype(np.float32))


_shipped = cache(load)


def map_for(embedder: str) -> QuestionMap | None:
    """Return the shipped map if it was fitted to the vectors of this embedder's model."""
    found = _shipped()
    return found if found.embedder == embedder else None
