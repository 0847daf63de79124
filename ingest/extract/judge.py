"""Judge by a linear model whether a statement is worth keeping, or is talk of the moment.

The weights were trained on labelled sentences by `python -m eval.worth`: one set over traits alone,
the other over traits and the sentence's vector, for the embedder that the file names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

import numpy as np
from pydantic import TypeAdapter

from semantic_memory.domain.english.traits import traits
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.values import Value

_PLAINLY_IDLE = 0.15
"""Probability by traits below which a statement isn't embedded."""

Judge = Callable[[Sequence[str]], Sequence[float]]
"""Returns the probability that each statement in the first person is worth keeping."""


class Weights(Value):
    """A logistic regression over the traits of a statement, and over its vector."""

    model: str | None = None
    """The embedder's model; None if the vector has no weights."""
    traits: dict[str, float]
    vector: tuple[float, ...] = ()


def judge_for(embedder: Embedder | None) -> Judge:
    """Return the judge over vectors of `embedder` if there are weights for it, or else of traits.

    >>> likely, idle = judge_for(None)(["I moved to Porto in 2019", "I had so much fun"])
    >>> likely > 0.8, idle < 0.2
    (True, True)
    """
    plain, meant = _weights("worth.json"), _weights("worth_vectors.json")
    if embedder is None or embedder.identity.model != meant.model:
        return lambda statements: [_likely(_of_traits(plain, one)) for one in statements]
    over = np.array(meant.vector, dtype=np.float32)

    def judge(statements: Sequence[str]) -> Sequence[float]:
        likely = {one: _likely(_of_traits(plain, one)) for one in statements}
        open_yet = [one for one in likely if likely[one] >= _PLAINLY_IDLE]
        if open_yet:
            for one, score in zip(
                open_yet, embedder.embed(open_yet, "document") @ over, strict=True
            ):
                likely[one] = _likely(_of_traits(meant, one) + float(score))
        return [likely[one] for one in statements]

    return judge


def _of_traits(weights: Weights, statement: str) -> float:
    return sum(weights.traits.get(name, 0.0) * value for name, value in traits(statement).items())


def _likely(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))


@cache
def _weights(name: str) -> Weights:
    file = resources.files("ingest.extract") / name
    return TypeAdapter(Weights).validate_json(file.read_bytes())
