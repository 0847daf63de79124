"""Logistic regression with an L2 penalty, over dense or sparse features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Vector = NDArray[np.float64]


def fit(
    matrix: Any, positive: Vector, share: Vector, *, penalty: float, steps: int = 15_000
) -> tuple[Vector, float]:
    """Return the weights of the columns, and the bias.

    `matrix` is an array or a sparse matrix, shape (rows, columns); `positive` is 1 for the rows of
    the class and else 0; each row counts by its `share`. The penalty spares the bias.
    """
    signs = 2 * positive - 1

    def loss(values: Vector) -> tuple[float, Vector]:
        weights, bias = values[:-1], values[-1]
        margin = signs * (matrix @ weights + bias)
        slope = -signs * share / (1 + np.exp(np.clip(margin, -500, 500)))
        error = float((share * np.logaddexp(0, -margin)).sum() + penalty * weights @ weights / 2)
        return error, np.append(matrix.T @ slope + penalty * weights, slope.sum())

    start = np.zeros(matrix.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return found.x[:-1], float(found.x[-1])
