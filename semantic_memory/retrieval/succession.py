"""Ranking of a statement above an older one that it makes untrue, whatever the words of both.

A linear model over the hashed words and pairs of words of both statements, and their vectors,
reduced to principal components and multiplied with each other. `python -m eval.succession` fits the
weights in `succession.npz` to `data/gold/successions.jsonl`; docs/evaluation.md has the figures. It
orders what a search found, and retires nothing: it isn't sure enough for that.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.foreign import own_words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.recall import Hit

BUCKETS = 1 << 14
COMPONENTS = 64
COMPARED = 10
"""Hits that are compared with each other."""
LIKELY = 0.75
"""Score, in logits, from which a statement ranks above another."""
FILE = Path(__file__).with_name("succession.npz")
_SHARE = 0.3
"""Share of the older one's score that the newer one must have by itself."""
_NO_PERSON = ("assistant", "tool", "system")
_READ = 1_500
"""Characters read of a statement."""
_WORDS = regex(r"[a-z']+|\d+|[^\w\s]")

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Weights for the vectors of one embedder, along their principal components, and for words."""

    embedder: str
    mean: Floats
    basis: Floats
    """Principal components, shape (dimension, COMPONENTS)."""
    older: Floats
    newer: Floats
    both: Floats
    """Weights of the products of both statements' components."""
    cosine: float
    bias: float
    older_words: Floats
    newer_words: Floats
    """Weights of the buckets of words."""


def raised(hits: Sequence[Hit], vectors: Floats, model: Model) -> list[Hit]:
    """Return `hits`, best first, each raised above the best of those that it likely made untrue.

    `vectors` has a row for each hit. Only statements of one person are compared.
    """
    likely = logits([hit.fact.content for hit in hits], vectors, model) >= LIKELY
    found = []
    for place, hit in enumerate(hits):
        overtaken = [
            other.score
            for beside, other in enumerate(hits[:place])
            if likely[beside, place]
            and hit.score >= _SHARE * other.score
            and hit.fact.stated_at > other.fact.stated_at
            and hit.fact.source.speaker == other.fact.source.speaker
            and hit.fact.source.role not in _NO_PERSON
        ]
        found.append(_above(hit, max(overtaken)) if overtaken else hit)
    return found


def logits(texts: Sequence[str], vectors: Floats, model: Model) -> Floats:
    """Return how likely each statement is made untrue by each, shape (older, newer)."""
    reduced = (vectors - model.mean) @ model.basis
    of_words = np.array([_of_words(text, model) for text in texts], dtype=np.float32)
    older = of_words[:, 0] + reduced @ model.older
    newer = of_words[:, 1] + reduced @ model.newer
    scores: Floats = (reduced * model.both) @ reduced.T + model.cosine * (vectors @ vectors.T)
    scores += older[:, None] + newer[None, :] + np.float32(model.bias)
    return scores


def buckets(text: str) -> NDArray[np.int64]:
    """Return the sorted buckets of the words and the pairs of words of a statement."""
    words = ["^", *("0" if one.isdigit() else one for one in _WORDS.findall(folded(text[:_READ])))]
    grams = {*words, *map(" ".join, zip(words, [*words[1:], "$"], strict=True))}
    return np.array(sorted({zlib.crc32(one.encode()) % BUCKETS for one in grams}), dtype=np.int64)


def model_for(embedder: str) -> Model | None:
    """Return the shipped model if it was fitted to the vectors of this embedder's model."""
    model = shipped()
    return model if model.embedder == embedder else None


@cache
def shipped() -> Model:
    """Return the shipped model."""
    with np.load(FILE) as file:
        given = dict(file)
    older, newer, both = given["vectors"].reshape(3, COMPONENTS)
    scale = np.float32(given["scale"])
    return Model(
        embedder=str(given["embedder"]),
        mean=given["mean"],
        basis=given["basis"].astype(np.float32),
        older=older,
        newer=newer,
        both=both,
        cosine=float(given["cosine"]),
        bias=float(given["bias"]),
        older_words=given["older_words"] * scale,
        newer_words=given["newer_words"] * scale,
    )


@lru_cache(maxsize=16_384)
def _of_words(text: str, model: Model) -> tuple[float, float]:
    """Return the weights of a statement's words, where it is the older and the newer one."""
    found = buckets(own_words(text))
    older, newer = (weights[found].sum() for weights in (model.older_words, model.newer_words))
    root = math.sqrt(len(found) + 1)
    return float(older) / root, float(newer) / root


def _above(hit: Hit, other: float) -> Hit:
    score = float(np.nextafter(other, np.inf))
    parts = hit.parts.model_copy(update={"newer": hit.parts.newer + score - hit.score})
    return hit.model_copy(update={"score": score, "parts": parts})
