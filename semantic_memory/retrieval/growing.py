"""Arrays that grow at their end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """Rows of one dtype; appending costs amortised constant time."""

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        shape = (16,) if width is None else (16, width)
        self._rows: NDArray[Any] = np.zeros(shape, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[Any]:
        """The rows so far, without copying; stale after the next `extend`."""
        return self._rows[: self._size]

    @property
    def nbytes(self) -> int:
        """Bytes held, spare room included."""
        return int(self._rows.nbytes)

    def extend(self, rows: Any) -> None:
        """Append rows."""
        rows = np.asarray(rows, dtype=self._rows.dtype)
        size = self._size + len(rows)
        if size > len(self._rows):
            shape = (max(size, len(self._rows) * 5 // 4), *self._rows.shape[1:])
            grown = np.zeros(shape, dtype=self._rows.dtype)
            grown[: self._size] = self.view
            self._rows = grown
        self._rows[self._size : size] = rows
        self._size = size


class GrowingVectors:
    """Unit vectors, several to an owner.

    `dtype` may be half precision, which halves the memory, errs by less than 0.001 of a cosine, and
    costs time where all of them are compared instead of a few.
    """

    def __init__(self, dimension: int, dtype: Any) -> None:
        self._vectors = Growing(dtype, dimension)
        self._owners = Growing(np.intp)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._vectors.nbytes + self._owners.nbytes

    def extend(self, owners: Sequence[int], vectors: Sequence[NDArray[np.float32]]) -> None:
        """Append the vectors of some owners, one array each."""
        self._vectors.extend(np.concatenate(vectors))
        self._owners.extend(np.repeat(owners, [len(own) for own in vectors]))

    def first(self, owners: Sequence[int]) -> NDArray[np.float32]:
        """The first vector of each of `owners`, all of whom have one."""
        places = np.searchsorted(self._owners.view, owners)  # appended owner by owner
        return self._vectors.view[places].astype(np.float32, copy=False)

    def best(
        self,
        vector: NDArray[np.float32],
        wanted: NDArray[np.bool_] | None,
        out: NDArray[np.float32],
    ) -> None:
        """Raise `out[owner]` to the highest cosine of each (wanted) owner's vectors."""
        owners, vectors = self._owners.view, self._vectors.view
        if wanted is not None:
            chosen = wanted[owners]
            owners, vectors = owners[chosen], vectors[chosen]
        vectors = vectors.astype(np.float32, copy=False)
        # not `@`: BLAS would wake its threads for it, which then spin longer than this takes
        np.maximum.at(out, owners, np.einsum("ij,j->i", vectors, vector))
