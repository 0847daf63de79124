"""Judge by a linear model whether a statement is worth keeping, or is talk of the moment.

The weights were trained on labelled sentences by `python -m eval.worth`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from math import exp

from semantic_memory.domain.english.traits import traits


def worth(statement: str) -> float:
    """Return the probability that a statement in the first person is worth keeping.

    >>> worth("I moved to Porto in 2019") > 0.9, worth("I had so much fun") < 0.1
    (True, True)
    """
    weights = _weights()
    score = sum(weights.get(name, 0.0) * value for name, value in traits(statement).items())
    return 1 / (1 + exp(-score))


@cache
def _weights() -> Mapping[str, float]:
    file = resources.files("ingest.extract") / "worth.json"
    weights: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
    return weights
