"""What is measured: this product, plain methods, and other memory systems, behind one Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from eval.datasets import History
from semantic_memory.domain.ports import Progress


@dataclass(frozen=True, slots=True)
class Found:
    """One result of a search."""

    ids: Sequence[str]
    """The data set's memories that it came from."""
    score: float
    """Higher is better, as the system reports it; comparable within a system only."""
    line: str
    """As it would stand in a prompt."""


class System(Protocol):
    """Takes in histories, and answers questions about them."""

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Store and index everything, and wait until it can be found. Called once."""
        ...

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """The user's `k` best memories, best first, as of `asked_at`."""
        ...

    def close(self) -> None:
        """Give up what it holds."""
        ...
