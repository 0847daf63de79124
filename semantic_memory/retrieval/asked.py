"""Read from a question's vector which attribute of a person it asks for, and whose.

A linear model over the vector of the question, which a search has anyway. The weights in
`asked.npz` were fitted to `data/gold/questions.jsonl` by `python -m training questions`, for the
vectors of one embedder; with another one no question is read. A fact whose reading states the
attribute gains by the probability of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.readings import NEAR_THE_OWNER, WORK, Reading

FILE = Path(__file__).with_name("asked.npz")
SURE = 0.5
"""Probability of an attribute from which a question asks for it."""
GAIN = 0.08
"""Addition to the score of a fact that certainly states what is certainly asked for."""

Vector = NDArray[np.float32]


class Asked(NamedTuple):
    """An attribute that a question asks for."""

    slot: str
    about: str
    """The attribute's bearer: `self`, the owner, or `near`, somebody near."""
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class QuestionReader:
    """Reader of the vectors of one embedder."""

    embedder: str
    slots: tuple[str, ...]
    abouts: tuple[str, ...]
    weights: Vector
    """Shape (dimension, slots + abouts)."""
    bias: Vector

    def read(self, vector: Vector) -> Asked | None:
        """Return the attribute that a question asks for; None if it is none or not sure.

        `vector` is that of the question, shape (dimension,).
        """
        scores = vector @ self.weights + self.bias
        number = len(self.slots)
        slots, abouts = _softmax(scores[:number]), _softmax(scores[number:])
        slot, about = int(slots.argmax()), int(abouts.argmax())
        probability = float(slots[slot])
        if self.slots[slot] == "none" or probability < SURE or self.abouts[about] == "other":
            return None
        return Asked(self.slots[slot], self.abouts[about], probability)


def gains(asked: Asked, facts: Iterable[Fact]) -> Mapping[str, float]:
    """Return the addition to the score of each fact that states what is asked for, by its id."""
    return {
        fact.id: GAIN * asked.probability * stated
        for fact in facts
        if fact.reading is not None and (stated := _stated(fact.reading, asked))
    }


def _stated(reading: Reading, asked: Asked) -> float:
    """Return the probability that a statement tells what is asked for."""
    if reading.about != asked.about and asked.slot not in NEAR_THE_OWNER:
        return 0.0
    if asked.slot in WORK and reading.work:
        return reading.work
    return reading.slot_probability if reading.slot == asked.slot else 0.0


def _softmax(scores: Vector) -> Vector:
    powers = np.exp(scores - scores.max())
    found: Vector = powers / powers.sum()
    return found


def load(path: Path = FILE) -> QuestionReader:
    """Load weights that `training.questions` wrote."""
    with np.load(path) as file:
        return QuestionReader(
            embedder=str(file["embedder"]),
            slots=tuple(map(str, file["slots"])),
            abouts=tuple(map(str, file["abouts"])),
            weights=file["weights"].astype(np.float32),
            bias=file["bias"].astype(np.float32),
        )


_shipped = cache(load)


def reader_for(embedder: str) -> QuestionReader | None:
    """Return the shipped reader if it was fitted to the vectors of this embedder's model."""
    found = _shipped()
    return found if found.embedder == embedder else None
