"""Ranking of a statement above an older one that it makes untrue, whatever the words of both.

A linear model over the hashed words and pairs of words of both statements, the words that they
share and the signs of `pairs`, and their vectors, reduced to principal components and multiplied
with each other. The weights in `succession.npz` were fitted to pairs of
`data/gold/pairs.jsonl`. It orders what a search found, and ends nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.english.renewals import changed, clauses
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.recall import Hit
from semantic_memory.language.own_speech import stated
from semantic_memory.retrieval import pairs

BUCKETS = 1 << 14
SIGNS = 1 << 13
"""Buckets of signs."""
COMPONENTS = 64
COMPARED = 10
"""Hits that are compared with each other."""
LIKELY = 1.25
"""Score, in logits, from which a statement ranks above another."""
DOUBTED = 3.0
"""Score from which a block marks an older statement as perhaps changed."""
FILE = Path(__file__).with_name("succession.npz")
_SHARE = 0.3
"""Share of the older one's score that the newer one must have by itself."""
_NO_PERSON = ("assistant", "tool", "system")
_PROMISING = -4.0
"""Score by words and vectors alone from which the words that both share are read."""

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
    grams: Floats
    signs: Floats
    """Weights of the buckets of what is read of both together."""


def raised(hits: Sequence[Hit], vectors: Floats, model: Model) -> list[Hit]:
    """Return `hits`, best first, each raised above the best of those that it likely made untrue.

    `vectors` has a row for each hit. Only statements of one person are compared.
    """
    facts = [hit.fact for hit in hits]
    likely = judged(facts, vectors, model, LIKELY)
    found = []
    for place, hit in enumerate(hits):
        overtaken = [
            other.score
            for beside, other in enumerate(hits[:place])
            if (beside, place) in likely and hit.score >= _SHARE * other.score
        ]
        found.append(_above(hit, max(overtaken)) if overtaken else hit)
    return found


def judged(
    facts: Sequence[Fact], vectors: Floats, model: Model, least: float
) -> dict[tuple[int, int], float]:
    """Return the pairs (older, newer) of one person's statements that score at least `least`."""
    texts = [*map(stated, facts)]
    alone = apart(texts, vectors, model)
    similar = vectors @ vectors.T
    found = {}
    for older, newer in np.argwhere(alone >= _PROMISING).tolist():
        if may_follow(facts[older], facts[newer]):
            together = _together(texts[older], texts[newer], float(similar[older, newer]), model)
            score = float(alone[older, newer]) + together
            if score >= least and not _changes_another(texts[older], texts[newer]):
                found[older, newer] = score
    return found


def _changes_another(older: str, newer: str) -> bool:
    """Return whether what changed is named, and the older statement is about something else."""
    things = [thing for one in clauses(newer) for thing in changed(one)]
    content = frozenset(stem for one in clauses(older) for stem in one.stems)
    return bool(things) and all(map(content.isdisjoint, things))


def may_follow(older: Fact, newer: Fact) -> bool:
    """Return whether the newer is a later statement of the same person."""
    return (
        newer.stated_at > older.stated_at
        and newer.source.speaker == older.source.speaker
        and is_of_person(newer)
    )


def is_of_person(fact: Fact) -> bool:
    """Return whether a person said it or had it stored, not an assistant or a tool."""
    return fact.source.role not in _NO_PERSON


def logit(older: str, newer: str, vectors: Floats, model: Model) -> float:
    """Return how likely one statement is made untrue by another; `vectors` are those of both."""
    similar = float(vectors[0] @ vectors[1])
    alone = apart([older, newer], vectors, model)[0, 1]
    return float(alone) + _together(older, newer, similar, model)


def apart(texts: Sequence[str], vectors: Floats, model: Model) -> Floats:
    """Return the scores without what is read of both together, shape (older, newer)."""
    reduced = (vectors - model.mean) @ model.basis
    of_words = np.array([_of_words(text, model) for text in texts], dtype=np.float32)
    older = of_words[:, 0] + reduced @ model.older
    newer = of_words[:, 1] + reduced @ model.newer
    scores: Floats = (reduced * model.both) @ reduced.T + model.cosine * (vectors @ vectors.T)
    scores += older[:, None] + newer[None, :] + np.float32(model.bias)
    return scores


def buckets(text: str) -> NDArray[np.int64]:
    """Return the sorted buckets of the words and the pairs of words of a statement."""
    spoken = pairs.words(text[: pairs.READ])
    words = ["^", *("0" if one.isdigit() else one for one in spoken)]
    return hashed([*words, *map(" ".join, zip(words, [*words[1:], "$"], strict=True))], BUCKETS)


def hashed(read: Collection[str], number: int) -> NDArray[np.int64]:
    """Return the sorted buckets, of `number`, of what was read."""
    return np.array(sorted({zlib.crc32(one.encode()) % number for one in read}), dtype=np.int64)


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
        grams=given["grams"] * scale,
        signs=given["signs"] * np.float32(given["scale_of_signs"]),
    )


@lru_cache(maxsize=16_384)
def _of_words(text: str, model: Model) -> tuple[float, float]:
    """Return the weights of a statement's words, where it is the older and the newer one."""
    found = buckets(text)
    older, newer = (weights[found].sum() for weights in (model.older_words, model.newer_words))
    root = math.sqrt(len(found) + 1)
    return float(older) / root, float(newer) / root


@lru_cache(maxsize=16_384)
def _together(older: str, newer: str, cosine: float, model: Model) -> float:
    """Return the weights of the words that both share and of the signs of both."""
    one, other = pairs.read(older), pairs.read(newer)
    grams = hashed(pairs.grams(one, other), BUCKETS)
    signs = hashed(pairs.signs(one, other, cosine), SIGNS)
    weight = float(model.grams[grams].sum()) / math.sqrt(len(grams) + 1)
    return weight + float(model.signs[signs].sum())


def _above(hit: Hit, other: float) -> Hit:
    score = float(np.nextafter(other, np.inf))
    parts = hit.parts.model_copy(update={"newer": hit.parts.newer + score - hit.score})
    return hit.model_copy(update={"score": score, "parts": parts})
