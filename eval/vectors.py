"""Texts and vectors that are drawn, for measures that should not wait for an embedding model."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import EmbedderIdentity, InputType

DIMENSION = 384
CENTRES = 2_000
"""Number of points that vectors of `CentredEmbedder` lie around."""
_SPREAD = 0.8
"""Length of the noise that is added to a centre of length 1."""
_COLOURS = "red, blue, green, grey, striped, wooden, folding, silver, heavy, narrow".split(", ")
_THINGS = (
    "lantern, bicycle, ladder, suitcase, kettle, atlas, telescope, umbrella, drill, compass,"
    " notebook, violin, tent, microscope, typewriter, barometer, chess set, sewing machine"
).split(", ")
_PLACES = (
    "cellar, attic, harbour office, north depot, reading room, workshop, staff kitchen, old"
    " library, museum store, greenhouse, boathouse, post room, east lobby, archive"
).split(", ")
_OWNERS = "Ida, Bruno, Carla, Deniz, Emre, Farah, Goran, Hanna, Ivo, Jana, Karim, Lena".split(", ")
_QUESTIONS = (
    "Whose is the {colour} {thing}?",
    "What of {owner}'s is in the {place}?",
    "Which {thing} is in the {place}?",
)


class RandomEmbedder:
    """Draws a unit vector for each text, always the same one."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of random vectors."""
        return EmbedderIdentity("random", DIMENSION, "none", "fp32")

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors, shape (len(texts), 384)."""
        del input_type
        return _units(np.stack([_drawn(text) for text in texts]))


class CentredEmbedder(RandomEmbedder):
    """Draws a unit vector near one of 2,000 centres for each text, as real ones do."""

    def __init__(self) -> None:
        dice = np.random.default_rng(0)
        self._centres = _units(dice.standard_normal((CENTRES, DIMENSION), np.float32))

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors, shape (len(texts), 384)."""
        noise = super().embed(texts, input_type)
        near = [_seed(text) % CENTRES for text in texts]
        return _units(self._centres[near] + np.float32(_SPREAD) * noise)


def statement(dice: random.Random, number: int) -> str:
    """Return a unique sentence of a dozen words that reports no change."""
    return (
        "The {colour} {thing} in the {place} belongs to {owner}".format(**_chosen(dice))
        + f", label {number}."
    )


def question(dice: random.Random) -> str:
    """Return a question about statements."""
    return dice.choice(_QUESTIONS).format(**_chosen(dice))


def _chosen(dice: random.Random) -> dict[str, str]:
    return {
        "colour": dice.choice(_COLOURS),
        "thing": dice.choice(_THINGS),
        "place": dice.choice(_PLACES),
        "owner": dice.choice(_OWNERS),
    }


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _drawn(text: str) -> Matrix:
    return np.random.default_rng(_seed(text)).standard_normal(DIMENSION, np.float32)


def _units(rows: Matrix) -> Matrix:
    units: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
