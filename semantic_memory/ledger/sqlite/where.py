"""Conditions on facts, in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from semantic_memory.domain.facts import Category
from semantic_memory.domain.filters import Compared, Condition, OneOf, Tagged
from semantic_memory.ledger.sqlite.rows import micros

Clause = tuple[str, list[Any]]
"""A condition on `facts f`, and the values to bind."""

_CONVERSATION = Category.CONVERSATION.value


def where(user_id: str, conditions: Iterable[Condition]) -> Clause:
    """Return the clause that a user's facts must satisfy to meet all of `conditions`."""
    clauses: list[Clause] = [("f.user_id = ?", [user_id]), *map(_rendered, conditions)]
    return " AND ".join(text for text, _ in clauses), [one for _, own in clauses for one in own]


def _rendered(condition: Condition) -> Clause:
    match condition:
        case OneOf(field, values):
            marks = ", ".join("?" * len(values))
            clause = f"f.{field} = ?" if len(values) == 1 else f"f.{field} IN ({marks})"
            if field == "category" and _CONVERSATION not in values:
                clause += f" AND f.category <> '{_CONVERSATION}'"  # names the indexes of facts
            return clause, list(values)
        case Compared("valid_to", comparison, value) if comparison in (">", ">="):
            return f"(f.valid_to IS NULL OR f.valid_to {comparison} ?)", [_bound(value)]
        case Compared(field, comparison, value):
            return f"f.{field} {comparison} ?", [_bound(value)]
        case Tagged(tag):
            # A tag holds neither space nor any of LIKE's and GLOB's marks save '_', hence instr.
            own = "instr(' ' || f.tags || ' ', ' ' || ? || ' ')"
            below = "instr(' ' || f.tags, ' ' || ? || '.')"
            return f"({own} OR {below})", [tag, tag]


def _bound(value: float | datetime) -> float:
    return micros(value) if isinstance(value, datetime) else value
