"""Significance of a difference between two systems, by the paired bootstrap.

Efron & Tibshirani (1993), "An Introduction to the Bootstrap"; Sakai (2006), "Evaluating evaluation
metrics based on the bootstrap". Questions are drawn with replacement, the same ones for both
systems; the interval is that of the percentiles. It generalises to other questions about the same
users, not to other users.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 10_000
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """True if the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    def rounded(self) -> dict[str, float]:
        """Return the values as JSON."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def paired_bootstrap(first: ArrayLike, second: ArrayLike, *, seed: int = 0) -> Difference:
    """Return the mean of `first - second`, both of shape (questions,), with its interval."""
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    dice = np.random.default_rng(seed)
    size = len(differences)
    means = np.concatenate(
        [
            differences[dice.integers(0, size, (_BATCH, size))].mean(axis=1)
            for _ in range(RESAMPLES // _BATCH)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(float(differences.mean()), float(low), float(high))
