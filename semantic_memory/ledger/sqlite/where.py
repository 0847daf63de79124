"""Conditions on facts, in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from semantic_memory.domain.facts import PINNED, Category
from semantic_memory.domain.filters import Compared, Condition, OneOf, Tagged
from semantic_memory.domain.retention import Unexpired
from semantic_memory.ledger.sqlite.rows import micros

Clause = tuple[str, list[Any]]
"""A condition on `facts f`, and the values to bind."""

_CONVERSATION = Category.CONVERSATION.value
# A tag holds neither space nor any of LIKE's and GLOB's marks save '_', hence instr.
_TAGGED = "(instr(' ' || f.tags || ' ', ' ' || ? || ' ') OR instr(' ' || f.tags, ' ' || ? || '.'))"
IS_PINNED = f"instr(' ' || f.tags || ' ', ' {PINNED} ')"
STATED_AT = "max(f.created_at, coalesce(f.confirmed_at, f.created_at))"


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
            return _TAGGED, [tag, tag]
        case Unexpired():
            terms = _expired_terms(condition)
            expired = " OR ".join(text for text, _ in terms)
            bound = [one for _, values in terms for one in values]
            # NULL, for a memory without `expires_at`, is no reason to leave it out.
            return f"(NOT coalesce({expired}, 0) OR {IS_PINNED})", bound


def expired(user_id: str, condition: Unexpired) -> Clause:
    """Return the clause of a user's memories of any status that have expired by a moment.

    Its terms can each be looked up in an index.
    """
    terms = _expired_terms(condition)
    text = " OR ".join(f"(f.user_id = ? AND {text})" for text, _ in terms)
    bound = [one for _, values in terms for one in (user_id, *values)]
    return f"({text}) AND NOT {IS_PINNED} AND f.status <> 'forgotten'", bound


def _expired_terms(condition: Unexpired) -> list[Clause]:
    at, periods = condition.at, condition.periods

    def stated_before(period: timedelta) -> int:
        return micros(at - period)

    return [
        ("f.expires_at <= ?", [micros(at)]),
        *(
            (f"(f.category = ? AND {STATED_AT} <= ?)", [category.value, stated_before(period)])
            for category, period in periods.categories.items()
        ),
        *(
            (f"({_TAGGED} AND {STATED_AT} <= ?)", [tag, tag, stated_before(period)])
            for tag, period in periods.tags.items()
        ),
    ]


def _bound(value: float | datetime) -> float:
    return micros(value) if isinstance(value, datetime) else value
