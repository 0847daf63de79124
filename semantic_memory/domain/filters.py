"""Filters, and the conditions they compile into.

`Filters.conditions` is the one definition of a filter's meaning. Each engine renders the kinds of
condition in its own terms: `Filters.admits` over facts, the SQLite ledger in SQL, a partition as a
mask of its columns, Chroma as a `where`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import PrivateAttr

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.values import (
    Identifier,
    Tag,
    Timestamp,
    Unit,
    Value,
    covers,
    parse,
)

Operator = Literal["<", "<=", ">", ">="]

OPERATORS: Mapping[Operator, Callable[[Any, Any], Any]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
"""The comparison that each operator stands for, of numbers, moments or arrays."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of `values`; without values, nothing passes."""

    field: Literal["category", "session_id", "status"]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The field compares to `value` by `operator`.

    A `valid_to` of None, of a fact that is still believed, is later than any moment.
    """

    field: Literal["confidence", "created_at", "valid_from", "valid_to"]
    operator: Operator
    value: float | datetime


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of the tags is `tag`, or lies below it: `security` covers `security.tls`."""

    tag: str


Condition = OneOf | Compared | Tagged | Unexpired


class Filters(Value):
    """Conditions of a search or a listing, combined with AND; unknown keys are errors."""

    categories: frozenset[Category] | None = None
    """Categories to include; None includes all."""
    tags: tuple[Tag, ...] = ()
    """All of these; a tag covers those below it (`security` finds `security.tls`)."""
    since: Timestamp | None = None
    """Earliest time of the statement, inclusive."""
    until: Timestamp | None = None
    """Latest time of the statement, exclusive."""
    min_confidence: Unit = 0.0
    session_id: Identifier | None = None
    as_of: Timestamp | None = None
    """Memories believed at this time, instead of now."""
    _unexpired: Unexpired | None = PrivateAttr(None)

    @classmethod
    def of(cls, given: FilterLike, as_of: datetime | None = None) -> Filters:
        """Build the filters from an instance, a mapping or None; `as_of` replaces theirs.

        Raises InvalidInputError for an unknown key or a wrong value.
        """
        match given:
            case Filters():
                found = given
            case None:
                found = NO_FILTERS
            case _:
                found = parse(cls, "filters", given)
        if as_of is None:
            return found
        return parse(cls, "filters", {**found.model_dump(), "as_of": as_of})

    def unexpired(self, condition: Unexpired) -> Self:
        """Return the filters without the memories that have expired; callers can't lift this."""
        narrowed = self.model_copy()
        narrowed._unexpired = condition  # noqa: SLF001  # of a copy made here
        return narrowed

    def conditions(self, status: Status | None = None) -> list[Condition]:
        """Return the conditions that a fact must meet, all of them.

        With a `status`, the fact must have it now, instead of being active.
        """
        found: list[Condition] = []
        if status is not None:
            found.append(OneOf("status", (status.value,)))
        elif self.as_of is None:
            found.append(OneOf("status", (Status.ACTIVE.value,)))
        if self.as_of is not None:
            found.append(OneOf("status", (Status.ACTIVE.value, Status.SUPERSEDED.value)))
            found.append(Compared("valid_from", "<=", self.as_of))
            found.append(Compared("valid_to", ">", self.as_of))
        if self.categories is not None:
            found.append(OneOf("category", tuple(sorted(self.categories))))
        if self.min_confidence > 0:
            found.append(Compared("confidence", ">=", self.min_confidence))
        if self._unexpired is not None and status is not Status.FORGOTTEN:
            found.append(self._unexpired)
        return found + narrowing(
            tags=self.tags, since=self.since, until=self.until, session_id=self.session_id
        )

    def admits(self, fact: Fact) -> bool:
        """Return True if `fact` meets every condition; the engines are tested against this one."""
        return meets(fact, self.conditions())


FilterLike = Filters | Mapping[str, Any] | None
"""The forms in which callers give filters."""
NO_FILTERS = Filters()
"""Admits all memories that are believed now."""

FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})
"""Admits facts that are believed now, and no messages."""


def narrowing(
    *,
    tags: Iterable[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    session_id: str | None = None,
) -> list[Condition]:
    """Return the conditions on tags, time and session alone, of facts in any status."""
    found: list[Condition] = []
    if since is not None:
        found.append(Compared("created_at", ">=", since))
    if until is not None:
        found.append(Compared("created_at", "<", until))
    if session_id is not None:
        found.append(OneOf("session_id", (session_id,)))
    return found + [Tagged(tag) for tag in tags]


def meets(fact: Fact, conditions: Iterable[Condition]) -> bool:
    """Return True if `fact` meets every one of `conditions`."""
    return all(_meets(fact, condition) for condition in conditions)


def _meets(fact: Fact, condition: Condition) -> bool:
    match condition:
        case OneOf("session_id", values):
            return fact.source.session_id in values
        case OneOf(field, values):
            return getattr(fact, field) in values
        case Compared("valid_to", comparison, value) if fact.valid_to is None:
            return comparison in (">", ">=")
        case Compared(field, comparison, value):
            return bool(OPERATORS[comparison](getattr(fact, field), value))
        case Tagged(tag):
            return any(covers(tag, own) for own in fact.tags)
        case Unexpired():
            return condition.holds(fact)
