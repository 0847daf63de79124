"""Vectors in two dimensions, by principal components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semantic_memory.changes import Matrix

Reals = NDArray[np.float64]


def principal_components(vectors: Matrix) -> tuple[Reals, tuple[float, float]]:
    """Places of row vectors of shape (n, dimension) on their two principal components.

    Returns shape (n, 2), and the share of the variance that each component explains. The same
    vectors give the same places: each component points to where its largest loading is positive.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, strengths, components = np.linalg.svd(centred, full_matrices=False)
    axes = np.zeros((2, vectors.shape[1]))
    axes[: len(components[:2])] = components[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.where(axes[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    variances = np.zeros(2)
    variances[: len(strengths[:2])] = strengths[:2] ** 2
    shares = variances / max(float(np.sum(strengths**2)), np.finfo(np.float64).tiny)
    return centred @ axes.T, (float(shares[0]), float(shares[1]))
