"""Pack 250 tokens with the profile, the history, and facts in the order of their worth.

python examples/small_budget.py
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from semantic_memory import SemanticMemory

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
BUDGET = 250
TRIP = (
    ("The user's trip to Lisbon starts on 14 June 2026", 0.95),
    ("The user booked the hotel Miradouro in Lisbon", 0.9),
    ("The user may rent a car in Lisbon", 0.72),
)

PLACES = ("Porto", "Ghent", "Turin", "Bergen", "Graz", "Cork")
DISHES = ("a fish soup", "pancakes", "a bean stew", "fresh figs", "a lentil curry", "noodles")


class June2026:
    """Clock set to 1 June 2026."""

    def now(self) -> datetime:
        """Return noon of 1 June 2026."""
        return NOW


def run(directory: Path) -> None:
    """Fill a store with more than fits, and print what a prompt gets."""
    with SemanticMemory.open(directory, clock=June2026()) as memory:
        for text, confidence in TRIP:
            memory.add(text, user_id="ann", category="project", confidence=confidence)
        memory.add("The user is a nurse", user_id="ann", category="personal")
        memory.add("The user is vegetarian", user_id="ann", category="preference")
        for week, (place, dish) in enumerate(product(PLACES, DISHES)):
            memory.add(
                f"The user ate {dish} on a trip to {place}",
                user_id="ann",
                category="finding",
                confidence=0.75,
                created_at=NOW - timedelta(weeks=week),
            )
        memory.flush()
        memory.jobs.run(jobs=["rollup"])
        block = memory.context("Plan the days of my trip to Lisbon", user_id="ann", budget=BUDGET)
        print(block.text)
        print(f"{block.tokens} of {BUDGET} tokens, {block.omitted} memories left out")
        chosen = sorted(block.hits, key=lambda hit: hit.fact.confidence, reverse=True)
        for hit in chosen[:5]:
            print(f"  {hit.fact.confidence:.2f}  {hit.fact.content}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="semantic-memory-") as scratch:
        run(Path(scratch))
