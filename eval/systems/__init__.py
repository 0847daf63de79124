"""Systems under test: this product, plain methods and other memory systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from eval.datasets import History
from semantic_memory.domain.ports import Progress


@dataclass(frozen=True, slots=True)
class Found:
    """A search result."""

    ids: Sequence[str]
    """Ids of the data set's memories that it came from."""
    score: float
    """Score reported by the system; higher is better, comparable within a system only."""
    line: str
    """Line of a prompt."""


class System(Protocol):
    """A memory system: stores histories and answers queries about them."""

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Store and index everything, and wait until it is searchable. Called once."""
        ...

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Return the user's `k` best memories, best first, as of `asked_at`."""
        ...

    def close(self) -> None:
        """Release resources."""
        ...
