"""The use cases of those who look into a store: operators, reviewers, the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from semantic_memory.application.backlog import backlog
from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.application.recent import Recent
from semantic_memory.application.timelines import TimelineReader
from semantic_memory.application.tracing import Tracer
from semantic_memory.application.why_not import WhyNot
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.inspection import Backlog
from semantic_memory.domain.ports import Clock, Ledger


@dataclass(frozen=True, slots=True)
class Inspection:
    """Inspect a store: changes, the course of beliefs, the absence of a memory, past recalls."""

    ledger: Ledger
    clock: Clock
    recent: Recent
    timelines: TimelineReader
    why_not: WhyNot
    tracer: Tracer
    dead_letters: DeadLetters

    def now(self) -> datetime:
        """Return the present by the clock of the store."""
        return self.clock.now()

    def facts(self, ids: Iterable[str], user_id: str) -> list[Fact]:
        """Return those memories of a user that aren't forgotten, in any status."""
        return self.ledger.get([*dict.fromkeys(ids)], user_id)

    def backlog(self, covers: Callable[[str], bool], most: int) -> Backlog:
        """Return the work left for some users; at most `most` of their sessions are named."""
        return backlog(self.ledger, covers, most)
