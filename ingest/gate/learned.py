"""Learned detection of attacks: a linear model over hashed words, pairs and triples of words.

It finds what the patterns of `ingest.gate.attacks` have no words for. The weights in `learned.npz`
are fitted by `python -m eval.guard` to attack strings, ordinary messages and people's own standing
instructions; docs/concepts/security.md has the receiver operating characteristic.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.gate.attacks import plain, readings
from semantic_memory.domain.patterns import regex

BUCKETS = 1 << 15
FILE = Path(__file__).with_name("learned.npz")
_READ = 4_000
"""Characters read at the beginning, and as many at the end of a longer text."""
_CODE = regex(r"```.*?```", re.DOTALL)  # says little of who wrote the words around it
_WORDS = regex(r"[^\W\d]+(?:'[^\W\d]+)*|\d+|[^\w\s]")  # a name like "system_prompt" is one


class Model(NamedTuple):
    """Weights of the buckets, and the score above which a text is taken for an attack."""

    weights: NDArray[np.float32]
    bias: float
    threshold: float


def buckets(text: str) -> NDArray[np.int64]:
    """Return the sorted buckets of the words, pairs and triples of words of a text."""
    read = text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"
    words = plain(_CODE.sub(" codeblock ", read)).lower()
    found = {zlib.crc32(gram.encode()) % BUCKETS for gram in _grams(words)}
    return np.array(sorted(found), dtype=np.int64)


def _grams(text: str) -> Iterator[str]:
    words = ["^", *("0" if word.isdigit() else word for word in _WORDS.findall(text))]
    yield from words
    for size in (2, 3):
        yield from map(" ".join, zip(*(words[start:] for start in range(size)), strict=False))


def score(text: str, model: Model) -> float:
    """Return how much a text is like an attack: the sum of its weights by the root of their number.

    Dividing by the root keeps long texts from scoring high or low for their length. The higher
    score counts of a text with names like "ignore_all_rules" and the same with those taken apart.
    """
    return max(_score_as_read(one, model) for one in readings(text))


def _score_as_read(text: str, model: Model) -> float:
    found = buckets(text)
    return float(model.weights[found].sum() / np.sqrt(len(found) + 1) + model.bias)


@cache
def shipped() -> Model:
    """Return the shipped model."""
    with np.load(FILE) as file:
        weights = file["weights"].astype(np.float32) * float(file["scale"])
        return Model(weights, float(file["bias"]), float(file["threshold"]))
