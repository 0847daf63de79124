"""Conditions on facts, in the terms that databases share, and those of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
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
from semantic_memory.domain.lexical import Term
from semantic_memory.domain.retention import Unexpired
from semantic_memory.ledger.sql.rows import micros

Clause = tuple[str, list[Any]]
"""A condition on `facts f`, and the values to bind."""

_CONVERSATION = Category.CONVERSATION.value
_FACTS = f" AND f.category <> '{_CONVERSATION}'"  # names the indexes of facts


class Key:
    """The columns of `facts`, `items` or `lines` by which rows of other tables belong to a row."""

    def __init__(self, *names: str) -> None:
        """Name them: `num`, with the user before it or without."""
        self.names = names
        self.columns = ", ".join(names)
        """The columns, as they are listed."""
        self.marks = ", ".join("?" * len(names))
        """A mark for each column."""
        self.condition = " AND ".join(f"{name} = ?" for name in names)
        """The condition of the rows that belong to one."""

    def values(self, user_id: str, num: int) -> tuple[str | int, ...]:
        """Return the values to bind."""
        return (user_id, num)[-len(self.names) :]


class Dialect(ABC):
    """The terms of one database, and the conditions on `facts f` made of them."""

    own: Key
    """By which rows of other tables belong to a fact, an item or a line."""
    locking: str
    """Ends a query whose rows are to be locked until the transaction ends."""
    changes: str
    """Selects the number of changes of all users' facts."""
    references: str
    """Joins `facts f` with the ids that each refers to, `r.value`."""
    by_place: str
    """Names the index of `facts` by session and position."""
    corroborations: str
    """The number of a fact's sources beyond the first, NULL for none."""
    stems_table: str
    """The table that holds the stems of facts."""
    stems: str
    """The stems in a row `s` of it, separated by spaces."""

    def __init__(self) -> None:
        self.is_pinned = self.holds("' ' || f.tags || ' '", f"' {PINNED} '")
        """The test for pinned facts."""
        self.stated_at = self.greater("f.created_at", "coalesce(f.confirmed_at, f.created_at)")
        """The time at which a fact was stated last."""
        # A tag holds neither space nor any of LIKE's and GLOB's marks save '_', hence no LIKE.
        own = self.holds("' ' || f.tags || ' '", "' ' || ? || ' '")
        below = self.holds("' ' || f.tags", "' ' || ? || '.'")
        self._tagged = f"({own} OR {below})"

    @abstractmethod
    def unindexed(self, column: str) -> str:
        """Return a column for a condition by which no index should be chosen."""

    @abstractmethod
    def holds(self, text: str, part: str) -> str:
        """Return the test of whether one text, an expression, holds another."""

    @abstractmethod
    def greater(self, one: str, other: str) -> str:
        """Return the greater of two values."""

    @abstractmethod
    def listed(self, texts: str) -> str:
        """Return the aggregate of an expression's values, separated by spaces."""

    @abstractmethod
    def among(self, value: str, values: Collection[str] | Collection[int]) -> Clause:
        """Return the clause that a value is one of any number."""

    @abstractmethod
    def worded(self, user_id: str, term: Term) -> Clause:
        """Return the clause of a user's facts whose texts hold a term."""

    @abstractmethod
    def valued(self, condition: Valued) -> Clause:
        """Return the clause on a value of the metadata, which is never NULL."""

    def same(self, one: str, other: str) -> str:
        """Return the condition that the rows of two aliases have the same key."""
        return " AND ".join(f"{one}.{column} = {other}.{column}" for column in self.own.names)

    def where(self, user_id: str, conditions: Iterable[Condition]) -> Clause:
        """Return the clause that a user's facts must satisfy to meet all of `conditions`."""
        rendered = (self._rendered(user_id, one) for one in conditions)
        return _joined(" AND ", [("f.user_id = ?", [user_id]), *rendered])

    def expired(self, user_id: str, condition: Unexpired) -> Clause:
        """Return the clause of a user's memories of any status that have expired by a moment.

        Its terms can each be looked up in an index.
        """
        terms = self._expired_terms(condition)
        text = " OR ".join(f"(f.user_id = ? AND {text})" for text, _ in terms)
        bound = [one for _, values in terms for one in (user_id, *values)]
        return f"({text}) AND NOT {self.is_pinned} AND f.status <> 'forgotten'", bound

    def _rendered(self, user_id: str, condition: Condition) -> Clause:
        match condition:
            case AllOf(conditions):
                rendered = [self._rendered(user_id, one) for one in conditions]
                return _joined(" AND ", rendered, empty="TRUE")
            case AnyOf(conditions):
                rendered = [self._rendered(user_id, one) for one in conditions]
                return _joined(" OR ", rendered, empty="FALSE")
            case Not(OneOf("category", values)) if _CONVERSATION in values:
                return f"f.category NOT IN ({_marks(values)}){_FACTS}", list(values)
            case Not(one):
                clause, bound = self._rendered(user_id, one)
                return f"NOT coalesce(({clause}), FALSE)", bound
            case _:
                return self._plain(user_id, condition)

    def _plain(self, user_id: str, condition: Plain) -> Clause:
        match condition:
            case OneOf():
                return _one_of(condition)
            case Among(ids):
                return self.among("f.id", ids)
            case Compared("valid_to", comparison, value) if comparison in (">", ">="):
                return f"(f.valid_to IS NULL OR f.valid_to {comparison} ?)", [_bound(value)]
            case Compared(field, comparison, value):
                return f"f.{field} {comparison} ?", [_bound(value)]
            case Tagged(tag):
                return self._tagged, [tag, tag]
            case Worded(term):
                return self.worded(user_id, term)
            case Valued():
                return self.valued(condition)
            case Unexpired():
                terms = self._expired_terms(condition)
                expired = " OR ".join(text for text, _ in terms)
                bound = [one for _, values in terms for one in values]
                # NULL, for a memory without `expires_at`, is no reason to leave it out.
                return f"(NOT coalesce({expired}, FALSE) OR {self.is_pinned})", bound

    def _expired_terms(self, condition: Unexpired) -> list[Clause]:
        at, periods = condition.at, condition.periods
        is_old = f"{self.stated_at} <= ?"

        def stated_before(period: timedelta) -> int:
            return micros(at - period)

        return [
            ("f.expires_at <= ?", [micros(at)]),
            *(
                (f"(f.category = ? AND {is_old})", [category.value, stated_before(period)])
                for category, period in periods.categories.items()
            ),
            *(
                (f"({self._tagged} AND {is_old})", [tag, tag, stated_before(period)])
                for tag, period in periods.tags.items()
            ),
        ]


def _one_of(condition: OneOf) -> Clause:
    field, values = condition.field, condition.values
    if not values:
        return "FALSE", []
    clause = f"f.{field} = ?" if len(values) == 1 else f"f.{field} IN ({_marks(values)})"
    if field == "category" and _CONVERSATION not in values:
        clause += _FACTS
    if field in ("agent_id", "run_id") and "" not in values:
        clause += f" AND f.{field} <> ''"  # names the index of what has one
    return clause, list(values)


def _joined(joint: str, clauses: list[Clause], *, empty: str = "") -> Clause:
    text = joint.join(f"({clause})" if " OR " in joint else clause for clause, _ in clauses)
    inner = text or empty
    return f"({inner})" if empty else inner, [one for _, own in clauses for one in own]


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))


def _bound(value: float | datetime) -> float:
    return micros(value) if isinstance(value, datetime) else value
