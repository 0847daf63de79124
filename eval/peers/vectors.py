"""The vectors of known texts, which stand in for an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class KnownVectors:
    """Looks vectors up by their texts."""

    def __init__(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        self._places = {text: place for place, text in enumerate(texts)}
        self._rows = rows

    @classmethod
    def read(cls, texts: Sequence[str], path: Path) -> KnownVectors:
        """Read the vectors of texts from a file of numpy, as they are asked for."""
        return cls(texts, np.load(path, mmap_mode="r"))

    @property
    def dimension(self) -> int:
        """Number of dimensions."""
        return int(self._rows.shape[1])

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit row vectors of shape (len(texts), dimension)."""
        places = [self._places[text] for text in texts]
        rows: NDArray[np.float32] = np.asarray(self._rows[places])
        return rows

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors as lists of floats, as most systems take them."""
        rows: list[list[Any]] = self(texts).tolist()
        return rows
