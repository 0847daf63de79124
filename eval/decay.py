"""Simulation of a year of one user's facts under the product's rules of fading.

New facts are stated every day; some are stated again, some are used for a question; the sweep runs
once a week. Random choices are seeded.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from semantic_memory.consolidation.fading import (
    Fading,
    archived,
    faded,
    retention,
    to_archive,
    used,
)
from semantic_memory.consolidation.merging import merged
from semantic_memory.domain.errors import InvalidInputError, MissingDependencyError
from semantic_memory.domain.facts import Category, Fact, Source, Status

_START = datetime(2024, 1, 1, tzinfo=UTC)
DAYS = 365
FACTS_A_DAY = 6
# The shares of facts by category, and of facts used again, are invented.
_SHARES: Mapping[Category, int] = {
    Category.PREFERENCE: 10,
    Category.PERSONAL: 10,
    Category.FEEDBACK: 5,
    Category.PROJECT: 25,
    Category.TECHNICAL: 20,
    Category.DECISION: 10,
    Category.FINDING: 15,
    Category.REFERENCE: 5,
}
_LIVELY = 0.15
"""Share of facts used about every ten days and stated again about every sixty."""


@dataclass(frozen=True, slots=True)
class Year:
    """Facts of a simulated year."""

    facts: Sequence[Fact]
    lively: frozenset[str]
    active_by_week: Sequence[Mapping[Category, int]]
    end: datetime
    rules: Fading

    def rows(self) -> list[tuple[str, int, int, float, float, float]]:
        """Return for each category: stated, kept, kept of lively and of other facts, retention."""
        table = []
        for category in _SHARES:
            own = [fact for fact in self.facts if fact.category is category]
            kept = [fact for fact in own if fact.status is Status.ACTIVE]
            lively = [fact for fact in own if fact.id in self.lively]
            others = [fact for fact in own if fact.id not in self.lively]
            left = [retention(fact, self.end, self.rules) for fact in kept]
            table.append(
                (
                    category.value,
                    len(own),
                    len(kept),
                    _share_active(lively),
                    _share_active(others),
                    sum(left) / len(left) if left else 0.0,
                )
            )
        return table


def simulate(rules: Fading, *, seed: int = 1) -> Year:
    """Simulate a year with `rules`."""
    dice = random.Random(seed)
    facts: dict[str, Fact] = {}
    lively: set[str] = set()
    weeks: list[Mapping[Category, int]] = []
    for day in range(DAYS):
        now = _START + timedelta(days=day)
        for number in range(FACTS_A_DAY):
            fact = _said(f"{day}-{number}", now, dice)
            facts[fact.id] = fact
            if dice.random() < _LIVELY:
                lively.add(fact.id)
        for fact_id in lively:
            if facts[fact_id].status is Status.ACTIVE and dice.random() < 0.1:
                facts[fact_id] = used(facts[fact_id], now)
            if facts[fact_id].status is Status.ACTIVE and dice.random() < 1 / 60:
                facts[fact_id] = _said_again(facts[fact_id], now)
        if day % 7 == 6:
            facts = _swept(facts, now, rules)
            weeks.append(
                Counter(fact.category for fact in facts.values() if fact.status is Status.ACTIVE)
            )
    end = _START + timedelta(days=DAYS)
    return Year(list(facts.values()), frozenset(lively), weeks, end, rules)


def draw(year: Year, path: Path) -> None:
    """Plot the active facts by category over the weeks; the suffix of `path` sets the format.

    Raises MissingDependencyError without matplotlib, InvalidInputError for an unknown suffix.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "a plot needs matplotlib: pip install 'semantic-memory[dev]'"
        ) from None
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    weeks = range(1, len(year.active_by_week) + 1)
    for category in _SHARES:
        axes.plot(weeks, [count[category] for count in year.active_by_week], label=category.value)
    axes.set(xlabel="week", ylabel="active facts", title="Facts kept over a year")
    axes.legend()
    try:
        figure.savefig(path)
    except ValueError as error:
        raise InvalidInputError(f"can't draw {path}: {error}") from None


def _said(fact_id: str, now: datetime, dice: random.Random) -> Fact:
    category = dice.choices(list(_SHARES), list(_SHARES.values()))[0]
    return Fact(
        id=fact_id,
        user_id="someone",
        content=f"fact {fact_id}",
        category=category,
        confidence=round(dice.uniform(0.7, 1.0), 2),
        created_at=now,
        recorded_at=now,
        valid_from=now,
        source=Source(message_ids=(fact_id,)),
    )


def _said_again(fact: Fact, now: datetime) -> Fact:
    again = fact.model_copy(
        update={
            "id": f"{fact.id}-{now:%j}",
            "created_at": now,
            "source": Source(message_ids=(f"{fact.id}-{now:%j}",)),
            "corroborations": (),
            "use_count": 0,
        }
    )
    return merged([fact, again]).model_copy(update={"id": fact.id})


def _swept(facts: Mapping[str, Fact], now: datetime, rules: Fading) -> dict[str, Fact]:
    since = now - timedelta(days=7)
    left = {
        fact_id: faded(fact, since, now, rules) if fact.status is Status.ACTIVE else fact
        for fact_id, fact in facts.items()
    }
    for decision in to_archive(list(left.values()), now, rules):
        left[decision.fact.id] = archived(decision.fact)
    return left


def _share_active(facts: Sequence[Fact]) -> float:
    return sum(fact.status is Status.ACTIVE for fact in facts) / len(facts) if facts else 0.0
