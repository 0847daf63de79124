"""Projection of vectors to two dimensions by principal components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.changes import Matrix

Reals = NDArray[np.float64]

_SPARE = 10
"""Directions iterated besides the two returned."""
_ROUNDS = 16


def principal_components(vectors: Matrix) -> tuple[Reals, tuple[float, float]]:
    """Project row vectors of shape (n, dimension) onto their first two principal components.

    Returns coordinates of shape (n, 2) and the share of the variance that each component explains.
    Deterministic: the start is fixed, and the sign of a component makes its largest loading
    positive. Uses subspace iteration (Halko, Martinsson & Tropp 2011, algorithm 4.4).
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
