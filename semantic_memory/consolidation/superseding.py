"""Which of two conflicting facts is believed, and what becomes of the other."""

from __future__ import annotations

import re

from semantic_memory.consolidation.merging import stated_at
from semantic_memory.consolidation.relations import said_at
from semantic_memory.domain.facts import Category, Fact, Status

_CORRECTION = re.compile(
    r"\b(?:actually|correction|i meant|to be (?:clear|precise)"
    r"|that(?:'s| is) (?:wrong|not right))\b",
    re.IGNORECASE,
)
Standing = tuple[bool, float, bool, float, tuple[float, float, int, str]]


def standing(fact: Fact) -> Standing:
    """Sorts conflicting facts: the highest is believed.

    What the user said stands above what was inferred or said by others; then the later; at equal
    times a correction, then the higher confidence, then what was said (or recorded) later. A total
    order, so that superseding can't run in circles.
    """
    return (
        fact.source.role in (None, "user"),
        stated_at(fact).timestamp(),
        is_correction(fact),
        fact.confidence,
        said_at(fact),
    )


def is_correction(fact: Fact) -> bool:
    """Whether the user sets something right with it."""
    return fact.category is Category.FEEDBACK or bool(_CORRECTION.search(fact.content))


def superseded(loser: Fact, winner: Fact) -> Fact:
    """`loser`, believed until `winner` began to hold; its text and everything else stays."""
    return loser.model_copy(
        update={
            "status": Status.SUPERSEDED,
            "superseded_by": winner.id,
            "valid_to": max(loser.valid_from, stated_at(winner)),
        }
    )
