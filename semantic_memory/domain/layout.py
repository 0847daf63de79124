"""Memories as a map."""

from __future__ import annotations

from semantic_memory.domain.facts import Category
from semantic_memory.domain.values import Timestamp, Value


class Point(Value):
    """A memory's place on a map."""

    id: str
    text: str
    """Its content, cut after 200 characters."""
    category: Category
    created_at: Timestamp
    x: float
    y: float


class Layout(Value):
    """Memories laid out in two dimensions: what is near in meaning lies near."""

    points: tuple[Point, ...]
    explained: tuple[float, float]
    """Share of the vectors' variance that each axis shows, 0 to 1."""
