"""Arrays that grow at their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray


class Growing:
    """Rows of one dtype; appending costs amortised constant time."""

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        shape = (16,) if width is None else (16, width)
        self._rows: NDArray[Any] = np.zeros(shape, dtype=dtype)
        self._size = 0

    @classmethod
    def behind(cls, rows: NDArray[Any]) -> Growing:
        """Begin with rows that are never written, and copied when others are appended."""
        begun = cls(rows.dtype)
        begun._rows, begun._size = rows, len(rows)
        return begun

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[Any]:
        """The rows so far, without copying. Rows appended later aren't in it."""
        return self._rows[: self._size]

    @property
    def nbytes(self) -> int:
        """Size in bytes, spare room included."""
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


class Columns:
    """Arrays of one length by name; some rows of them are columns again.

    Unlike those of a structured array, each lies in one piece, and is scanned in a tenth of the
    time where there are very many.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays

    @classmethod
    def of(cls, rows: NDArray[Any]) -> Columns:
        """Return the columns of a structured array."""
        return cls({name: rows[name] for name in rows.dtype.names or ()})

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    @overload
    def __getitem__(self, wanted: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, wanted: Sequence[int] | NDArray[Any]) -> Columns: ...
    def __getitem__(self, wanted: str | Sequence[int] | NDArray[Any]) -> NDArray[Any] | Columns:
        """Return a column, or the columns of some rows."""
        if isinstance(wanted, str):
            return self.arrays[wanted]
        return Columns({name: array[wanted] for name, array in self.arrays.items()})


class GrowingColumns:
    """Columns that grow at their end, one for each field of a structured dtype."""

    def __init__(
        self, dtype: np.dtype[Any], begun: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        """Begin with columns that are never written, if there are some."""
        self._dtype = dtype
        self._fields = {
            name: Growing(dtype[name]) if begun is None else Growing.behind(begun[name])
            for name in dtype.names or ()
        }

    @property
    def view(self) -> Columns:
        """The columns so far, without copying. Rows appended later aren't in them."""
        return Columns({name: field.view for name, field in self._fields.items()})

    def extend(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows, each with a value for each field."""
        for name, column in Columns.of(np.array(rows, dtype=self._dtype)).arrays.items():
            self._fields[name].extend(column)


_SMALL_PRODUCT = 2**18
"""Multiplications of a product of matrices up to which BLAS, in its OpenBLAS form, uses one thread:
its others spin longer than the work takes."""
_MOST = float(np.finfo(np.float16).max)
_HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""Every number of half precision, by its bits: reading them here is faster than computing them."""


def _widened(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return rows in single precision."""
    if rows.dtype == np.float16:
        return _HALVES[rows.view(np.uint16)]
    return rows.astype(np.float32, copy=False)


class Vectors(NamedTuple):
    """Unit vectors, several to an owner, in ascending order of their owners."""

    owners: NDArray[np.intp]
    rows: NDArray[np.floating]

    def first(self, owners: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the first vector of each of `owners`, all of which must have one, to be read only.

        Those of one run are read where they lie.
        """
        places = np.searchsorted(self.owners, owners)
        if len(places) and (places[1:] - places[:-1] == 1).all():
            rows = self.rows[places[0] : places[-1] + 1]
        else:
            rows = self.rows[places]
        return rows.astype(np.float32, copy=False)

    def chosen(self, owners: NDArray[np.intp]) -> Vectors:
        """Return the vectors of some owners, in ascending order, renumbered 0, 1, 2, ..."""
        begins = np.searchsorted(self.owners, owners)
        each = np.searchsorted(self.owners, owners, side="right") - begins
        renumbered = np.repeat(np.arange(len(owners)), each)
        before = np.repeat(np.cumsum(each) - each, each)  # vectors of the owners before
        places = np.repeat(begins, each) + np.arange(len(renumbered)) - before
        return Vectors(renumbered, self.rows[places])

    def best(
        self,
        vector: NDArray[np.float32],
        wanted: NDArray[np.bool_] | None,
        out: NDArray[np.float32],
    ) -> None:
        """Raise `out[owner]` to the highest cosine of each (wanted) owner's vectors."""
        owners, rows = self
        if wanted is not None:
            chosen = wanted[owners]
            owners, rows = owners[chosen], rows[chosen]
        rows = _widened(rows)
        # not `@`: BLAS would wake its threads for it, which then spin longer than this takes
        np.maximum.at(out, owners, np.einsum("ij,j->i", rows, vector))


class Segments(NamedTuple):
    """Unit vectors in two parts: those that were there at first, and those of later owners."""

    first_part: Vectors
    rest: Vectors

    def chosen(self, owners: NDArray[np.intp]) -> Segments:
        """Return the vectors of some owners, in ascending order, renumbered 0, 1, 2, ..."""
        return Segments(*(part.chosen(owners) for part in self))

    def best(
        self,
        vector: NDArray[np.float32],
        wanted: NDArray[np.bool_] | None,
        out: NDArray[np.float32],
    ) -> None:
        """Raise `out[owner]` to the highest cosine of each (wanted) owner's vectors."""
        for part in self:
            if len(part.owners):
                part.best(vector, wanted, out)

    def cosines(
        self, owners: Sequence[int], others: Sequence[int] | NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the cosine of the first vector of each of `owners` to that of each of `others`.

        Shape (owners, others); all must have a vector.
        """
        own = np.array(self.first(owners))  # NumPy multiplies an array by its own views otherwise
        found = np.empty((len(own), len(others)), dtype=np.float32)
        step = max(1, _SMALL_PRODUCT // max(1, own.size))
        for start in range(0, len(others), step):
            part = slice(start, start + step)
            np.matmul(own, self.first(others[part]).T, out=found[:, part])
        return found

    def first(self, owners: Sequence[int] | NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the first vector of each of `owners`, all of which must have one."""
        wanted = np.asarray(owners, dtype=np.intp)
        begun = self.rest.owners[0] if len(self.rest.owners) else np.inf
        later = wanted >= begun
        if later.all():
            return self.rest.first(wanted)
        if not later.any():
            return self.first_part.first(wanted)
        found = np.empty((len(wanted), self.rest.rows.shape[1]), dtype=np.float32)
        found[later] = self.rest.first(wanted[later])
        found[~later] = self.first_part.first(wanted[~later])
        return found


class GrowingVectors:
    """Unit vectors that grow owner by owner.

    `dtype` may be half precision, which halves the memory, errs by less than 0.001 of a cosine, and
    costs time where all of them are compared instead of a few. Those there `at_first` are read
    where they lie, and never copied.
    """

    def __init__(self, dimension: int, dtype: Any, at_first: Vectors | None = None) -> None:
        self._vectors = Growing(dtype, dimension)
        self._owners = Growing(np.intp)
        self._at_first = at_first or self.rest

    @property
    def nbytes(self) -> int:
        """Size in bytes, of what was there at first aside."""
        return self._vectors.nbytes + self._owners.nbytes

    @property
    def rest(self) -> Vectors:
        """Those appended so far, without copying."""
        return Vectors(self._owners.view, self._vectors.view)

    @property
    def view(self) -> Segments:
        """The vectors so far, without copying."""
        return Segments(self._at_first, self.rest)

    def extend(self, owners: Sequence[int], vectors: Sequence[NDArray[np.float32]]) -> None:
        """Append the vectors of several owners, one array for each."""
        # Their length is one: what lies far beyond was misread, and would be infinite in half.
        self._vectors.extend(np.clip(np.concatenate(vectors), -_MOST, _MOST))
        self._owners.extend(np.repeat(owners, [len(own) for own in vectors]))
