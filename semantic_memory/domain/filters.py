"""Filters of searches and listings."""

from __future__ import annotations

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.values import Identifier, Tag, Timestamp, Unit, Value, covers


class Filters(Value):
    """Conditions on memories, combined with AND. Unknown keys are errors."""

    categories: frozenset[Category] | None = None
    """Categories to include; None includes all."""
    tags: tuple[Tag, ...] = ()
    """Tags required; a tag includes the tags below it (`security` finds `security.tls`)."""
    since: Timestamp | None = None
    """Earliest time of the statement, inclusive."""
    until: Timestamp | None = None
    """Latest time of the statement, exclusive."""
    min_confidence: Unit = 0.0
    session_id: Identifier | None = None
    as_of: Timestamp | None = None
    """Time at which the memories were believed; None for now."""

    def admits(self, fact: Fact) -> bool:
        """Return True if `fact` passes. Every store's own filter is tested against this one."""
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


NO_FILTERS = Filters()
"""Filters that admit every memory believed now."""

FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})
"""Filters that admit every fact believed now, and no messages."""
