"""The progress of a running job, and its report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TypeVar

from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.reports import JobRun

PendingT = TypeVar("PendingT")


class Course:
    """The progress of a run."""

    def __init__(self, name: str, started: datetime, *, dry_run: bool) -> None:
        self.name = name
        self.started = started
        self.dry_run = dry_run
        self.users = 0
        self.total: int | None = None
        self.error: str | None = None
        self.counts: Counter[str] = Counter()
        self.planned: list[str] = []
        self._start = time.perf_counter()

    def each(self, pending: Collection[PendingT]) -> Iterator[PendingT]:
        """Yield what is left to examine, and note its number."""
        self.total = self.users + len(pending)
        yield from pending

    def note(self, outcome: Outcome) -> None:
        """Note one examination."""
        self.users += 1
        self.counts.update(outcome.counts)
        self.planned.extend(outcome.planned)

    def under_way(self) -> JobRun:
        """Return the run as it stands, with the time left at its pace so far."""
        users, total, seconds = self.users, self.total, self._seconds()
        left = None if total is None or not users else seconds * max(0, total - users) / users
        return JobRun(
            job=self.name,
            started_at=self.started,
            seconds=seconds,
            dry_run=self.dry_run,
            running=True,
            users=users,
            total=total,
            seconds_left=None if left is None else round(left, 3),
        )

    def ended(self, *, cut_off: bool) -> JobRun:
        """Return the run now that it is over."""
        return JobRun(
            job=self.name,
            started_at=self.started,
            seconds=self._seconds(),
            dry_run=self.dry_run,
            users=self.users,
            total=self.total if cut_off or self.error else self.users,
            counts={kind: number for kind, number in self.counts.items() if number},
            planned=tuple(self.planned),
            error=self.error,
        )

    def _seconds(self) -> float:
        return round(time.perf_counter() - self._start, 3)
