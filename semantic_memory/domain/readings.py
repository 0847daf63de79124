"""The reading of a sentence: its worth, subject and kind, according to a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from semantic_memory.domain.values import Unit, Value

About = Literal["self", "near", "other"]
Kind = Literal[
    "none",
    "state",
    "event",
    "plan",
    "habit",
    "preference",
    "standing_order",
    "decision",
    "opinion",
]

WORK = frozenset({"job", "employer"})
"""Attributes that one statement may tell both of."""
NEAR_THE_OWNER = frozenset({"partner", "family", "pet"})
"""Attributes of the owner that are statements about people and animals near the owner."""


class Reading(Value):
    """A judge's reading of a sentence, with probabilities from 0 to 1."""

    judge: str
    """The judge and its version; a reading of another version is made again."""
    keep: Unit
    """That it is worth keeping."""
    task: Unit
    """That it asks for something, or is text to work on."""
    alone: Unit
    """That it can be understood by itself."""
    about: About
    about_self: Unit
    kind: Kind
    kind_probability: Unit
    standing_order: Unit
    """That it is an order for all answers to come."""
    slot: str
    """The attribute of a person that it states, such as `home` or `allergy`; else `none`."""
    slot_probability: Unit
    other_slots: Mapping[str, Unit] = Field(default_factory=dict)
    """Other attributes that it may state as well, with the probability of each."""
    category: str
    """A category of facts, or `none`."""
    category_probability: Unit

    @property
    def work(self) -> float:
        """Probability of the job or its employer, of a statement that may tell either; else 0.

        "I work as a baker" tells both or one: what is asked or changed of either is one matter.
        """
        stated = {self.slot: self.slot_probability, **self.other_slots}
        return min(1.0, sum(stated.values())) if stated.keys() == WORK else 0.0
