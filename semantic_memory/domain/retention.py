"""Expiry of memories: at a time of their own, or after a period by category or tag.

A memory expires at the earliest of `expires_at` and the ends of the periods of its category and
tags, which count from its last statement. A pinned one never expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.values import covers

if TYPE_CHECKING:  # the ports name filters, and those this module
    from semantic_memory.domain.ports import Clock

EXPIRED = "expired"
"""The reason in the tombstone of an expired memory."""


@dataclass(frozen=True, slots=True)
class Periods:
    """Retention periods by category and by tag; a tag covers those below it."""

    categories: Mapping[Category, timedelta] = field(default_factory=dict)
    tags: Mapping[str, timedelta] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unexpired:
    """Condition: the memory hasn't expired at `at`."""

    at: datetime
    periods: Periods

    def holds(self, fact: Fact) -> bool:
        """Return True if `fact` hasn't expired."""
        if fact.is_pinned:
            return True
        if fact.expires_at is not None and fact.expires_at <= self.at:
            return False
        if not (self.periods.categories or self.periods.tags):
            return True
        return all(fact.stated_at > self.at - period for period in self._periods(fact))

    def _periods(self, fact: Fact) -> Iterable[timedelta]:
        if (own := self.periods.categories.get(fact.category)) is not None:
            yield own
        for tag, period in self.periods.tags.items():
            if any(covers(tag, one) for one in fact.tags):
                yield period


class Expiry:
    """The clock and the periods by which memories expire."""

    def __init__(self, clock: Clock, periods: Periods) -> None:
        self._clock = clock
        self._periods = periods

    @property
    def now(self) -> Unexpired:
        """The condition that a memory hasn't expired by now."""
        return Unexpired(self._clock.now(), self._periods)

    def kept(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the facts that haven't expired."""
        now = self.now
        return [fact for fact in facts if now.holds(fact)]
