"""Conditions that narrow a search or a listing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.values import (
    Identifier,
    Tag,
    Timestamp,
    Unit,
    Value,
    covers,
    parse,
)


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

    def admits(self, fact: Fact) -> bool:
        """Return True if `fact` passes; the filters of all stores are tested against this one."""
        if self.as_of is None:
            believed = fact.status is Status.ACTIVE
        else:
            believed = (
                fact.status in (Status.ACTIVE, Status.SUPERSEDED)
                and fact.valid_from <= self.as_of
                and (fact.valid_to is None or self.as_of < fact.valid_to)
            )
        return (
            believed
            and (self.categories is None or fact.category in self.categories)
            and (self.since is None or fact.created_at >= self.since)
            and (self.until is None or fact.created_at < self.until)
            and fact.confidence >= self.min_confidence
            and (self.session_id is None or fact.source.session_id == self.session_id)
            and all(any(covers(tag, own) for own in fact.tags) for tag in self.tags)
        )


FilterLike = Filters | Mapping[str, Any] | None
"""The forms in which callers give filters."""
NO_FILTERS = Filters()
"""Admits all memories that are believed now."""

FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})
"""Admits facts that are believed now, and no messages."""
