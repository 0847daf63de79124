"""Conditions on facts: the algebra into which filters compile.

Each engine renders it in its own terms: `meets` over facts, the SQLite ledger in SQL, a partition
as masks of its columns, Chroma as a `where`. A partition and Chroma hold columns only; conditions
on words and metadata are met by the ledger (see `in_columns`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from pydantic import JsonValue

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.lexical import Term, holds, tokens
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.values import covers

Operator = Literal["<", "<=", ">", ">="]

OPERATORS: Mapping[Operator, Callable[[Any, Any], Any]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
"""The comparison that each operator stands for, of numbers, texts, moments or arrays."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of `values`, an empty text if it has none; nothing, without values."""

    field: Literal["category", "session_id", "status", "trust", "agent_id", "run_id"]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Among:
    """The fact is one of those with `ids`."""

    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Compared:
    """The field compares to `value` by `operator`.

    A `valid_to` of None, of a fact that is still believed, is later than any moment.
    """

    field: Literal["confidence", "importance", "created_at", "valid_from", "valid_to"]
    operator: Operator
    value: float | datetime


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of the tags is `tag`, or lies below it: `security` covers `security.tls`."""

    tag: str


@dataclass(frozen=True, slots=True)
class Worded:
    """The text holds the term: a word, a beginning of a word, or words in order."""

    term: Term


@dataclass(frozen=True, slots=True)
class Valued:
    """The metadata has a value at `path` that compares to `value`.

    Text compares to text only, by code points; a number to numbers only; true, false and null
    equal themselves. Without an operator, any value will do.
    """

    path: tuple[str, ...]
    operator: Literal["=", "<", "<=", ">", ">="] | None = None
    value: str | float | bool | None = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every condition is met."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition is met; without conditions, nothing passes."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition isn't met."""

    condition: Condition


Plain = OneOf | Among | Compared | Tagged | Worded | Valued | Unexpired
Condition = Plain | AllOf | AnyOf | Not


def in_columns(condition: Condition) -> bool:
    """Return True if a partition and Chroma can decide the condition by their columns."""
    match condition:
        case OneOf("trust"):
            return False
        case OneOf() | Compared() | Tagged() | Unexpired():
            return True
        case AllOf(conditions) | AnyOf(conditions):
            return all(map(in_columns, conditions))
        case Not(one):
            return in_columns(one)
        case _:
            return False


def meets(fact: Fact, conditions: Iterable[Condition]) -> bool:
    """Return True if `fact` meets every one of `conditions`."""
    return all(_meets(fact, condition) for condition in conditions)


def _meets(fact: Fact, condition: Condition) -> bool:
    match condition:
        case AllOf(conditions):
            return meets(fact, conditions)
        case AnyOf(conditions):
            return any(_meets(fact, one) for one in conditions)
        case Not(one):
            return not _meets(fact, one)
        case _:
            return _holds(fact, condition)


def _holds(fact: Fact, condition: Plain) -> bool:
    match condition:
        case OneOf(field, values):
            return _column(fact, field) in values
        case Among(ids):
            return fact.id in ids
        case Compared("valid_to", comparison, value) if fact.valid_to is None:
            return comparison in (">", ">=")
        case Compared(field, comparison, value):
            return bool(OPERATORS[comparison](getattr(fact, field), value))
        case Tagged(tag):
            return any(covers(tag, own) for own in fact.tags)
        case Worded(term):
            return holds(tokens(fact.text), term)
        case Unexpired():
            return condition.holds(fact)
        case Valued():
            return _valued(fact.metadata, condition)


def _column(fact: Fact, field: str) -> str | None:
    match field:
        case "session_id":
            return fact.source.session_id
        case "agent_id" | "run_id":
            return getattr(fact, field) or ""
        case _:
            found: str = getattr(fact, field)
            return found


def _valued(metadata: Mapping[str, JsonValue], condition: Valued) -> bool:
    found: Any = metadata
    for step in condition.path:
        if not isinstance(found, Mapping) or step not in found:
            return False
        found = found[step]
    if condition.operator is None:
        return True
    if _kind(found) is not _kind(condition.value):
        return False
    if condition.operator == "=":
        return bool(found == condition.value)
    return bool(OPERATORS[condition.operator](found, condition.value))


def _kind(value: object) -> type | None:
    """Return the kind of a value that compares: numbers are of one kind, true and false not."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return type(value) if value is None or isinstance(value, str | bool) else None
