"""Strings in one buffer, decoded one by one as they are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from semantic_memory.retrieval.sealed import Pieces

T = TypeVar("T")


class Strings(NamedTuple):
    """Strings, each followed by a line feed.

    >>> strings = Strings.of(["one", "", "three"])
    >>> len(strings.ends), strings.read(2), strings.read_all()
    (3, 'three', ['one', '', 'three'])
    """

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    """End of each string in `data`, line feed included."""

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Encode strings."""
        encoded = [to_bytes(one) + b"\n" for one in strings]
        ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def followed_by(self, rest: Strings) -> tuple[Pieces, Pieces]:
        """Return the buffer and the ends of these strings and of others behind them, in pieces.

        >>> data, ends = Strings.of(["one"]).followed_by(Strings.of(["three"]))
        >>> Strings(np.concatenate(data), np.concatenate(ends)).read_all()
        ['one', 'three']
        """
        return (self.data, rest.data), (self.ends, rest.ends + len(self.data))

    def raw(self, place: int) -> bytes:
        """Return the bytes of a string."""
        start = int(self.ends[place - 1]) if place else 0
        return self.data[start : int(self.ends[place]) - 1].tobytes()

    def read(self, place: int) -> str:
        """Return a string."""
        return self.raw(place).decode("utf-8", "surrogatepass")

    def read_all(self) -> list[str]:
        """Return all strings."""
        number = len(self.ends)
        found = self.data.tobytes().decode("utf-8", "surrogatepass").split("\n")
        if len(found) == number + 1:
            return found[:number]
        return [self.read(place) for place in range(number)]  # some have line feeds of their own

    def find(self, wanted: str) -> int | None:
        """Return the place of a string, if all are sorted by their bytes; None if it is missing."""
        sought = to_bytes(wanted)
        place = bisect_left(range(len(self.ends)), sought, key=self.raw)
        return place if place < len(self.ends) and self.raw(place) == sought else None


NO_STRINGS = Strings.of(())


def to_bytes(text: str) -> bytes:
    """Encode a text, whatever characters it has."""
    return text.encode("utf-8", "surrogatepass")


class _Read(Sequence[T], ABC, Generic[T]):
    """Values that are made one by one, whenever they are read."""

    @abstractmethod
    def _at(self, index: int) -> T: ...

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | Sequence[T]:
        """Return the value at a place, counted from the first."""
        if isinstance(place, slice):
            return [self._at(one) for one in range(*place.indices(len(self)))]
        return self._at(int(place))


class Chosen(_Read[T]):
    """Some values of a sequence."""

    def __init__(self, values: Sequence[T], places: NDArray[np.intp]) -> None:
        self._values = values
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def _at(self, index: int) -> T:
        return self._values[int(self._places[index])]


class Appended(_Read[T]):
    """Values, the first of which are kept as strings, and decoded."""

    def __init__(self, first: Strings, decode: Callable[[str], T]) -> None:
        self._first = first
        self._number = len(first.ends)
        self._decode = decode
        self._rest: list[T] = []

    def __len__(self) -> int:
        return self._number + len(self._rest)

    def _at(self, index: int) -> T:
        if index >= self._number:
            return self._rest[index - self._number]
        return self._decode(self._first.read(index))

    def pieces(self, encode: Callable[[T], str]) -> tuple[Pieces, Pieces]:
        """Return the buffer and the ends of all values as strings, in pieces."""
        return self._first.followed_by(Strings.of(map(encode, self._rest)))

    def append(self, value: T) -> None:
        """Append a value."""
        self._rest.append(value)
