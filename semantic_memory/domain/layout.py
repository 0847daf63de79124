"""Map of memories in two dimensions."""

from __future__ import annotations

from semantic_memory.domain.facts import Category
from semantic_memory.domain.values import Timestamp, Value


class Point(Value):
    """Position of a memory on a map."""

    id: str
    text: str
    """First 200 characters of the content."""
    category: Category
    created_at: Timestamp
    x: float
    y: float


class Layout(Value):
    """Memories in two dimensions; memories of similar meaning lie close together."""

    points: tuple[Point, ...]
    explained: tuple[float, float]
    """Share of the vectors' variance along each axis, 0 to 1."""
    earlier: str | None = None
    """The memory behind which the next map begins; None if there is none left."""
