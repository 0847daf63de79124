"""The places in one user's sessions: which memories were said one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semantic_memory.retrieval.growing import Growing

SLOTS = np.dtype(
    [
        ("session", "i4"),
        ("before", "i4"),
        ("behind", "i4"),
        ("asks", "?"),
        ("outdated", "?"),  # a fact that was drawn from it no longer holds
    ]
)


class Slots:
    """Numbers the sessions, and the places in them, as memories are put there."""

    def __init__(self) -> None:
        self.sessions: dict[str, int] = {}
        """The number of each session."""
        self._kept_positions: NDArray[np.int64] | None = None
        self._waiting: list[tuple[int, int]] = []
        self._slots = Growing(SLOTS)

    @classmethod
    def restored(
        cls, sessions: Iterable[str], positions: NDArray[np.int64], slots: NDArray[Any]
    ) -> Slots:
        """Return slots as they were kept: sessions, positions in them, and columns, by number."""
        restored = cls()
        restored.sessions = {session: number for number, session in enumerate(sessions)}
        restored._kept_positions = positions
        restored._slots.extend(slots)
        return restored

    @property
    def positions(self) -> NDArray[np.int64]:
        """The positions in their sessions, by number."""
        return np.array([position for _, position in self._numbers], np.int64)

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        """The number of each place, session and position; of what is kept, once it is needed."""
        if self._kept_positions is None:
            return {}
        sessions = self._slots.view["session"].tolist()
        places = zip(sessions, self._kept_positions.tolist(), strict=True)
        return {place: number for number, place in enumerate(places)}

    @property
    def view(self) -> NDArray[Any]:
        """The slots, without copying; those taken since `settle` aren't in it."""
        return self._slots.view

    def take(self, session_id: str | None, position: int | None) -> tuple[int, int]:
        """Return the number of a session and of a place in it; -1 for none."""
        if session_id is None:
            return -1, -1
        session = self.sessions.setdefault(session_id, len(self.sessions))
        if position is None:
            return session, -1
        place = (session, position)
        number = self._numbers.get(place)
        if number is None:
            number = self._numbers[place] = len(self._numbers)
            self._waiting.append(place)
        return session, number

    def settle(self, asks: Mapping[int, bool], outdated: Mapping[int, bool]) -> None:
        """Append the slots taken since the last call, join them to their neighbours, and mark some.

        `asks` and `outdated` are values of the columns by the number of the slot.
        """
        taken = [
            (
                session,
                self._at(session, position - 1),
                self._at(session, position + 1),
                False,
                False,
            )
            for session, position in self._waiting
        ]
        if taken:
            self._waiting.clear()
            first = len(self._slots)
            self._slots.extend(np.array(taken, dtype=SLOTS))
            own = np.arange(first, len(self._slots), dtype=np.int32)
            for side, other in (("before", "behind"), ("behind", "before")):
                near = self.view[side][first:]
                self.view[other][near[near >= 0]] = own[near >= 0]
        self.view["asks"][list(asks)] = list(asks.values())
        self.view["outdated"][list(outdated)] = list(outdated.values())

    def _at(self, session: int, position: int) -> int:
        return self._numbers.get((session, position), -1)
