"""Conditions on facts, in SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from semantic_memory.domain.conditions import (
    AllOf,
    Among,
    AnyOf,
    Compared,
    Condition,
    Not,
    OneOf,
    Plain,
    Tagged,
    Valued,
    Worded,
)
from semantic_memory.domain.facts import PINNED, Category
from semantic_memory.domain.retention import Unexpired
from semantic_memory.ledger.sqlite import forms
from semantic_memory.ledger.sqlite.rows import micros

Clause = tuple[str, list[Any]]
"""A condition on `facts f`, and the values to bind."""

_CONVERSATION = Category.CONVERSATION.value
_FACTS = f" AND f.category <> '{_CONVERSATION}'"  # names the indexes of facts
# A tag holds neither space nor any of LIKE's and GLOB's marks save '_', hence instr.
_TAGGED = "(instr(' ' || f.tags || ' ', ' ' || ? || ' ') OR instr(' ' || f.tags, ' ' || ? || '.'))"
IS_PINNED = f"instr(' ' || f.tags || ' ', ' {PINNED} ')"
STATED_AT = "max(f.created_at, coalesce(f.confirmed_at, f.created_at))"


def where(user_id: str, conditions: Iterable[Condition]) -> Clause:
    """Return the clause that a user's facts must satisfy to meet all of `conditions`."""
    return _joined(
        " AND ", [("f.user_id = ?", [user_id]), *(_rendered(user_id, one) for one in conditions)]
    )


def _rendered(user_id: str, condition: Condition) -> Clause:
    match condition:
        case AllOf(conditions):
            return _joined(" AND ", [_rendered(user_id, one) for one in conditions], empty="1")
        case AnyOf(conditions):
            return _joined(" OR ", [_rendered(user_id, one) for one in conditions], empty="0")
        case Not(OneOf("category", values)) if _CONVERSATION in values:
            return f"f.category NOT IN ({_marks(values)}){_FACTS}", list(values)
        case Not(one):
            clause, bound = _rendered(user_id, one)
            return f"NOT coalesce(({clause}), 0)", bound
        case _:
            return _plain(user_id, condition)


def _plain(user_id: str, condition: Plain) -> Clause:
    match condition:
        case OneOf():
            return _one_of(condition)
        case Among(ids):
            return "f.id IN (SELECT value FROM json_each(?))", [json.dumps(sorted(ids))]
        case Compared("valid_to", comparison, value) if comparison in (">", ">="):
            return f"(f.valid_to IS NULL OR f.valid_to {comparison} ?)", [_bound(value)]
        case Compared(field, comparison, value):
            return f"f.{field} {comparison} ?", [_bound(value)]
        case Tagged(tag):
            return _TAGGED, [tag, tag]
        case Worded(term):
            held = "SELECT rowid FROM forms WHERE forms MATCH ?"
            return f"f.num IN ({held})", [forms.match(user_id, term)]
        case Valued():
            return _valued(condition)
        case Unexpired():
            terms = _expired_terms(condition)
            expired = " OR ".join(text for text, _ in terms)
            bound = [one for _, values in terms for one in values]
            # NULL, for a memory without `expires_at`, is no reason to leave it out.
            return f"(NOT coalesce({expired}, 0) OR {IS_PINNED})", bound


def _one_of(condition: OneOf) -> Clause:
    field, values = condition.field, condition.values
    clause = f"f.{field} = ?" if len(values) == 1 else f"f.{field} IN ({_marks(values)})"
    if field == "category" and _CONVERSATION not in values:
        clause += _FACTS
    if field in ("agent_id", "run_id") and "" not in values:
        clause += f" AND f.{field} <> ''"  # names the index of what has one
    return clause, list(values)


def _valued(condition: Valued) -> Clause:
    """Return the clause on a value of the metadata, which is never NULL."""
    path = ".".join(["$.metadata", *(f'"{step}"' for step in condition.path)])
    kind = "json_type(f.detail, ?)"
    value = condition.value
    if condition.operator is None:
        return f"{kind} IS NOT NULL", [path]
    if value is None or isinstance(value, bool):
        return f"{kind} IS ?", [path, json.dumps(value)]
    kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
    # SQLite reads both numbers from JSON, so that both are rounded alike.
    compared = f"json_extract(f.detail, ?) {condition.operator} json_extract(?, '$')"
    bound = json.dumps(value, ensure_ascii=False)
    return f"coalesce({kind} IN {kinds} AND {compared}, 0)", [path, path, bound]


def _joined(joint: str, clauses: list[Clause], *, empty: str = "") -> Clause:
    text = joint.join(f"({clause})" if " OR " in joint else clause for clause, _ in clauses)
    inner = text or empty
    return f"({inner})" if empty else inner, [one for _, own in clauses for one in own]


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))


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
