"""Superseding: the choice between two conflicting facts, and the state of the other one."""

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
    """Return the sort key of conflicting facts; the fact with the highest key is believed.

    Statements of the user, and facts without a role, rank above those of others. Then the later
    statement wins; at equal times a correction, then the higher confidence, then the fact said or
    recorded later. The order is total, so that superseding can't run in circles.
    """
    return (
        fact.source.role in (None, "user"),
        stated_at(fact).timestamp(),
        is_correction(fact),
        fact.confidence,
        said_at(fact),
    )


def may_retire(newer: Fact, older: Fact) -> bool:
    """Return True if `newer` may end the validity of `older`.

    Statements of others than the user never end the user's own.
    """
    return newer.source.role in (None, "user") or older.source.role not in (None, "user")


def is_correction(fact: Fact) -> bool:
    """Return True if the fact is feedback or has a phrase of correction."""
    return fact.category is Category.FEEDBACK or bool(_CORRECTION.search(fact.content))


def superseded(loser: Fact, winner: Fact) -> Fact:
    """Return `loser` superseded, its validity ending with the latest statement of `winner`."""
    return loser.model_copy(
        update={
            "status": Status.SUPERSEDED,
            "superseded_by": winner.id,
            "valid_to": max(loser.valid_from, stated_at(winner)),
        }
    )
