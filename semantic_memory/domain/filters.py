"""Which memories a search or a listing is about."""

from __future__ import annotations

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.values import Identifier, Tag, Timestamp, Unit, Value, covers


class Filters(Value):
    """Narrows a search or a listing. Conditions are combined with AND; unknown keys are errors."""

    categories: frozenset[Category] | None = None
    """Any of these; None means all."""
    tags: tuple[Tag, ...] = ()
    """Every one of these; a tag stands for all below it (`security` finds `security.tls`)."""
    since: Timestamp | None = None
    """Said at or after this time."""
    until: Timestamp | None = None
    """Said before this time."""
    min_confidence: Unit = 0.0
    session_id: Identifier | None = None
    as_of: Timestamp | None = None
    """What was believed at this time, instead of now."""

    def admits(self, fact: Fact) -> bool:
        """Whether `fact` passes. The reference that every store's own filter is tested against."""
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
"""Passes everything that is believed now."""

FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})
"""Passes facts that are believed now, and no messages."""
