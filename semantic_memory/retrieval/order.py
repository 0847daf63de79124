"""Order rows by score, sorting no more of them than are read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_FIRST = 64


def top(scores: NDArray[np.floating], number: int) -> NDArray[np.intp]:
    """Return the places of the `number` highest scores, best first; ties in order of place."""
    if 0 < number < len(scores):
        least = np.partition(scores, len(scores) - number)[len(scores) - number]
        (places,) = np.nonzero(
            scores >= least
        )  # all that equal the last one, so that ties are kept
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:number]


def descending(scores: NDArray[np.floating]) -> Iterator[int]:
    """Yield every place by falling score, as in `top`; sort four times as many at each need."""
    given, number = 0, _FIRST
    while given < len(scores):
        places = top(scores, number)
        yield from places[given:].tolist()
        given, number = len(places), 4 * number
