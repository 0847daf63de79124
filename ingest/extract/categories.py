"""Tell the category of a fact by the reading of its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from semantic_memory.domain.facts import Category
from semantic_memory.domain.readings import Kind, Reading
from semantic_memory.judging.packaged import PackagedSentenceJudge
from semantic_memory.judging.ports import SentenceJudge, Spoken

_STANDING = 0.5
"""Probability of a standing order from which a fact is feedback."""
_BY_KIND: Mapping[Kind, Category] = {
    "preference": Category.PREFERENCE,
    "opinion": Category.PREFERENCE,
    "decision": Category.DECISION,
    "plan": Category.PROJECT,
}


def category_of(reading: Reading) -> Category:
    """Return the category that a reading names, or else the one of its kind of statement."""
    if reading.kind == "standing_order" and reading.standing_order >= _STANDING:
        return Category.FEEDBACK
    if reading.category not in ("none", "feedback"):
        return Category(reading.category)
    return _BY_KIND.get(reading.kind, Category.PERSONAL)


def category_of_text(statement: str) -> Category:
    """Return the category of a statement from elsewhere, as the packaged judge reads it."""
    (reading,) = _judge().read([Spoken(statement)])
    return category_of(reading)


@cache
def _judge() -> SentenceJudge:
    return PackagedSentenceJudge()
