"""Conditions on facts, for Chroma: as a `where`, and over the metadata of its results.

Chroma holds no times of expiry, so expired memories are among its results until a job erases them.
A search filters its candidates once more, by the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from semantic_memory.domain.filters import (
    OPERATORS,
    Compared,
    Condition,
    OneOf,
    Operator,
    Tagged,
)
from semantic_memory.domain.retention import Unexpired

_COMPARISONS: Mapping[Operator, str] = {"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


def where(user_id: str, conditions: Iterable[Condition]) -> dict[str, Any]:
    """Return Chroma's `where` for a user's pieces that meet all of `conditions`."""
    stored = (one for one in conditions if not isinstance(one, Unexpired))
    return {"$and": [{"user_id": user_id}, *map(_rendered, stored)]}


def _rendered(condition: OneOf | Compared | Tagged) -> dict[str, Any]:
    match condition:
        case OneOf(field, (value,)):
            return {field: value}
        case OneOf(field, values):
            # Chroma refuses an empty list; `#` occurs in no category, session or status.
            return {field: {"$in": list(values) or ["#"]}}
        case Compared(field, comparison, value):
            return {field: {_COMPARISONS[comparison]: _number(value)}}
        case Tagged(tag):
            return {"tags": {"$contains": tag}}


def meets(metadata: Mapping[str, Any], conditions: Iterable[Condition]) -> bool:
    """Return True if a piece with this metadata meets all of `conditions`."""
    return all(_meets(metadata, condition) for condition in conditions)


def _meets(metadata: Mapping[str, Any], condition: Condition) -> bool:
    match condition:
        case OneOf(field, values):
            return metadata[field] in values
        case Compared(field, comparison, value):
            return bool(OPERATORS[comparison](metadata[field], _number(value)))
        case Tagged(tag):
            return tag in (metadata.get("tags") or ())
        case Unexpired():
            return True


def _number(value: float | datetime) -> float:
    """Return a number unchanged, a time in Unix seconds: Chroma's metadata has no times."""
    return value.timestamp() if isinstance(value, datetime) else value
