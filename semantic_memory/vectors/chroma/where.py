"""Conditions on facts, for Chroma: as a `where`, and over the metadata of its results.

Chroma holds no times of expiry, so expired memories are among its results until a job erases them.
A search filters its candidates again, by the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from semantic_memory.domain.conditions import (
    OPERATORS,
    SPELLED,
    AllOf,
    AnyOf,
    Compared,
    Condition,
    Not,
    OneOf,
    Operator,
    Tagged,
)
from semantic_memory.domain.retention import Unexpired

_OPPOSITES: Mapping[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def where(user_id: str, conditions: Iterable[Condition]) -> dict[str, Any]:
    """Return Chroma's `where` for a user's pieces that meet all of `conditions`."""
    stored = (one for one in conditions if not isinstance(one, Unexpired))
    return {"$and": [{"user_id": user_id}, *map(_rendered, stored)]}


def has(field: str) -> str:
    """Return the key that a piece has, with True, if it has an agent or a run.

    What lacks a key can't be asked for, except as what isn't equal to a value.
    """
    return f"has_{field}"


def _rendered(condition: Condition) -> dict[str, Any]:
    match condition:
        case OneOf("agent_id" | "run_id" as field, values) if "" in values:
            named = OneOf(field, tuple(value for value in values if value))
            return {"$or": [{has(field): {"$ne": True}}, _rendered(named)]}
        case OneOf(field, (value,)):
            return {field: value}
        case OneOf(field, values):
            # Chroma refuses an empty list; `#` occurs in no category, session or status.
            return {field: {"$in": list(values) or ["#"]}}
        case Compared(field, comparison, value):
            return {field: {SPELLED[comparison]: _number(value)}}
        case Tagged(tag):
            return {"tags": {"$contains": tag}}
        case AllOf(conditions):
            return _joined("$and", [_rendered(one) for one in conditions])
        case AnyOf(conditions):
            return _joined("$or", [_rendered(one) for one in conditions])
        case Not(one):
            return _negated(one)
        case _:
            raise ValueError(f"Chroma holds columns only: {condition}")


def _negated(condition: Condition) -> dict[str, Any]:
    """Render the opposite of a condition: Chroma has no `$not`."""
    match condition:
        case OneOf("agent_id" | "run_id" as field, values) if "" in values:
            named = OneOf(field, tuple(value for value in values if value))
            return {"$and": [{has(field): True}, _negated(named)]}
        case OneOf(field, values):
            return {field: {"$nin": list(values) or ["#"]}}
        case Compared(field, comparison, value):
            return {field: {SPELLED[_OPPOSITES[comparison]]: _number(value)}}
        case Tagged(tag):
            return {"tags": {"$not_contains": tag}}
        case AllOf(conditions):
            return _joined("$or", [_negated(one) for one in conditions])
        case AnyOf(conditions):
            return _joined("$and", [_negated(one) for one in conditions])
        case Not(one):
            return _rendered(one)
        case _:
            raise ValueError(f"Chroma holds columns only: {condition}")


def _joined(joint: str, clauses: list[dict[str, Any]]) -> dict[str, Any]:
    """Join clauses; Chroma refuses fewer than two, and every piece has a `user_id`."""
    if not clauses:
        return {"user_id": {"$ne" if joint == "$and" else "$eq": "#"}}
    return clauses[0] if len(clauses) == 1 else {joint: clauses}


def meets(metadata: Mapping[str, Any], conditions: Iterable[Condition]) -> bool:
    """Return True if a piece with this metadata meets all of `conditions`."""
    return all(_meets(metadata, condition) for condition in conditions)


def _meets(metadata: Mapping[str, Any], condition: Condition) -> bool:
    match condition:
        case OneOf(field, values):
            return metadata.get(field, "") in values
        case Compared(field, comparison, value):
            return bool(OPERATORS[comparison](metadata[field], _number(value)))
        case Tagged(tag):
            return tag in (metadata.get("tags") or ())
        case Unexpired():
            return True
        case AllOf(conditions):
            return meets(metadata, conditions)
        case AnyOf(conditions):
            return any(_meets(metadata, one) for one in conditions)
        case Not(one):
            return not _meets(metadata, one)
        case _:
            raise ValueError(f"Chroma holds columns only: {condition}")


def _number(value: float | datetime) -> float:
    """Return a number unchanged, a time in Unix seconds: Chroma's metadata has no times."""
    return value.timestamp() if isinstance(value, datetime) else value
