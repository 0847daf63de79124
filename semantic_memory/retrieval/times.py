"""Compare moments with the windows of time that a question names.

A moment inside a window counts in full, one outside by a Gaussian of the distance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semantic_memory.domain.english.windows import Window


def weight(window: Window, moments: ArrayLike) -> NDArray[np.float64]:
    """Return 1 for moments inside `window`, falling to 0 with the distance outside."""
    then = np.asarray(moments, dtype=np.float64)
    distance = np.maximum(0.0, np.maximum(window.start - then, then - window.end))
    found: NDArray[np.float64] = np.exp(-0.5 * (distance / window.softness) ** 2)
    return found


def closeness(windows: Sequence[Window], moments: ArrayLike) -> NDArray[np.float64]:
    """Return how well each moment fits any of `windows`, in [0, 1]; 0 where there are none."""
    best = np.zeros(np.shape(moments))
    for window in windows:
        best = np.maximum(best, weight(window, moments))
    return best
