"""Lay a user's memories out in two dimensions, by principal components of their vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semantic_memory.application.lookup import one_fact
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import FACTS, Filters
from semantic_memory.domain.layout import Layout, Point
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.requests import LayoutRequest
from semantic_memory.domain.retention import Expiry

Reals = NDArray[np.float64]

_MESSAGES = Filters(categories=frozenset({Category.CONVERSATION}))
_TEXT = 200  # characters of a point's text
_SPARE = 10  # directions followed beside the two that are wanted
_ROUNDS = 16


class Map:
    """Place memories on a map. Thread-safe."""

    def __init__(self, ledger: Ledger, expiry: Expiry) -> None:
        self._ledger = ledger
        self._expiry = expiry

    def layout(self, asked: LayoutRequest) -> Layout:
        """Lay out the newest `limit` memories that are believed, facts before messages.

        Or the next behind a memory. Raises NotFoundError if the user has no such memory.
        """
        found = self._found(asked)
        facts = found[: asked.limit]
        earlier = facts[-1].id if len(found) > asked.limit else None
        rows = self._ledger.traits([fact.id for fact in facts], asked.user_id)
        vectors = {row.trait.id: row.vectors.windows[0] for row in rows if row.vectors is not None}
        shown = [fact for fact in facts if fact.id in vectors]
        if not shown:
            return Layout(points=(), explained=(0.0, 0.0), earlier=earlier)
        places, explained = principal_components(np.stack([vectors[fact.id] for fact in shown]))
        points = tuple(_point(fact, *place) for fact, place in zip(shown, places, strict=True))
        return Layout(points=points, explained=explained, earlier=earlier)

    def _found(self, asked: LayoutRequest) -> list[Fact]:
        """Return the memories to lay out, and one more if there is one."""
        user_id, behind, most = asked.user_id, asked.behind, asked.limit + 1
        now = self._expiry.now
        facts, messages = FACTS.unexpired(now), _MESSAGES.unexpired(now)
        if behind is not None:
            last = one_fact(self._ledger, behind, user_id)
            if last.category is Category.CONVERSATION:
                return self._ledger.find(user_id, messages, limit=most, after=behind)
        found = self._ledger.find(user_id, facts, limit=most, after=behind)
        if rest := most - len(found):
            found += self._ledger.find(user_id, messages, limit=rest)
        return found


def _point(fact: Fact, x: float, y: float) -> Point:
    return Point(
        id=fact.id,
        text=fact.content[:_TEXT],
        category=fact.category,
        created_at=fact.created_at,
        x=round(float(x), 5),
        y=round(float(y), 5),
    )


def principal_components(vectors: Matrix) -> tuple[Reals, tuple[float, float]]:
    """Project row vectors of shape (n, dimension) onto their two principal components.

    Returns shape (n, 2), and the share of the variance that each component explains. The same
    vectors give the same places: the start is fixed, and each component points to where its largest
    loading is positive. Uses subspace iteration (Halko, Martinsson & Tropp 2011, algorithm 4.4), as
    only two components are wanted.
    """
    number, dimension = vectors.shape
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    start = np.random.default_rng(0)
    basis = start.standard_normal((dimension, min(number, dimension, 2 + _SPARE)))
    for _ in range(_ROUNDS):
        basis, _ = np.linalg.qr(centred.T @ (centred @ basis))
    _, strengths, turned = np.linalg.svd(centred @ basis, full_matrices=False)
    components = (turned @ basis.T)[:2]
    axes = np.zeros((2, dimension))
    axes[: len(components)] = components
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.where(axes[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    shares = np.zeros(2)
    total = max(float(np.sum(centred**2)), np.finfo(np.float64).tiny)
    shares[: len(components)] = strengths[:2] ** 2 / total
    return centred @ axes.T, (float(shares[0]), float(shares[1]))
