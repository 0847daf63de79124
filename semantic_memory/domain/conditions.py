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
from operator import attrgetter
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
SPELLED: Mapping[Operator, str] = MappingProxyType(
    {"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}
)
"""The operators as MongoDB made them common."""


_COLUMNS: Mapping[str, Callable[[Fact], str | None]] = MappingProxyType(
    {
        "session_id": lambda fact: fact.source.session_id,
        "agent_id": lambda fact: fact.agent_id or "",
        "run_id": lambda fact: fact.run_id or "",
    }
)
"""Reads the fields that a fact has under another name, or may lack."""


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
    operator: Literal["="] | Operator | None = None
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
    return all(_test(condition)(fact) for condition in conditions)


def meeting(facts: Iterable[Fact], conditions: Iterable[Condition]) -> list[Fact]:
    """Return the `facts` that meet every one of `conditions`, in their order."""
    found = [*facts]
    for condition in conditions:
        found = [*filter(_test(condition), found)]
    return found


def _test(condition: Condition) -> Callable[[Fact], bool]:
    """Return what tells whether a fact meets a condition, which is read once for many facts."""
    match condition:
        case AllOf(conditions):
            tests = [*map(_test, conditions)]
            return lambda fact: all(test(fact) for test in tests)
        case AnyOf(conditions):
            tests = [*map(_test, conditions)]
            return lambda fact: any(test(fact) for test in tests)
        case Not(one):
            test = _test(one)
            return lambda fact: not test(fact)
        case _:
            return _plain(condition)


def _plain(condition: Plain) -> Callable[[Fact], bool]:
    match condition:
        case OneOf(field, values):
            column = _COLUMNS.get(field) or attrgetter(field)
            return lambda fact: column(fact) in values
        case Among(ids):
            return lambda fact: fact.id in ids
        case Compared("valid_to", comparison, value):
            compares, later = OPERATORS[comparison], comparison in (">", ">=")
            return lambda fact: later if (end := fact.valid_to) is None else compares(end, value)
        case Compared(field, comparison, value):
            compares, column = OPERATORS[comparison], attrgetter(field)
            return lambda fact: bool(compares(column(fact), value))
        case Tagged(tag):
            return lambda fact: any(covers(tag, own) for own in fact.tags)
        case Worded(term):
            return lambda fact: holds(tokens(fact.text), term)
        case Unexpired():
            return condition.holds
        case Valued():
            return lambda fact: _valued(fact.metadata, condition)


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
