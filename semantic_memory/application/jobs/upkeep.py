"""Maintenance jobs: each goes from user to user and can be stopped between any two.

usage       counts the memories that contexts were made of, and records them for the audit
relevance   weighs memories for listings by relevance
expiry      forgets memories that have expired, erases expired items, removes the oldest events
dedup       merges duplicates
conflicts   supersedes facts that no longer hold
decay       fades unconfirmed facts, archives those below the floor or over the cap
rollup      brings profiles and histories up to date with facts and time
compact     erases forgotten memories from ledger, session logs and index
redeliver   sends the webhook's dead letters again; only when it is named

Of several processes, one runs a job at a time; but each counts the uses that it has buffered.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.application.expiring import Expiring
from semantic_memory.application.feed import FeedPruning
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.course import Course
from semantic_memory.application.jobs.weighing import weigh
from semantic_memory.application.trail import Trail
from semantic_memory.concurrency import reason
from semantic_memory.consolidation.fading import (
    Fading,
    archived,
    faded,
    regained,
    to_archive,
    used,
)
from semantic_memory.consolidation.resolver import Kind, Outcome, Resolver
from semantic_memory.domain.changes import Change, Mark, Touch, Update
from semantic_memory.domain.errors import StoreClosedError, StoreUnavailableError
from semantic_memory.domain.events import Event, JobFinished, WorkerFailed
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.fields import ALL_JOBS, JOBS, ON_DEMAND
from semantic_memory.domain.filters import FACTS
from semantic_memory.domain.ports import Clock, Lease, Ledger, Pending
from semantic_memory.domain.reports import JobRun
from semantic_memory.pipeline.leasing import GRANTED, Leasing
from semantic_memory.profile.rollup import ROLLUP, Rollup

LAST_RUN = "last run of "  # with a job's name, a key in the ledger's meta
_BATCH = 500
_SOONEST = 0.8  # of the interval: schedules are kept to about 10 %
_TAKEN_SECONDS = 1.0  # until a job that another process runs is tried again


class Uses:
    """Buffer the uses of memories until a job writes them, so that reading writes nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, datetime] = {}

    def note(self, fact_ids: Iterable[str], at: datetime) -> None:
        """Note that these memories were put into a prompt."""
        with self._lock:
            self._used.update(dict.fromkeys(fact_ids, at))

    def take(self) -> dict[str, datetime]:
        """Return the uses noted since the last call, and clear them."""
        with self._lock:
            used, self._used = self._used, {}
        return used


class Upkeep:
    """Run jobs, one at a time, and record each run. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        resolver: Resolver,
        rollup: Rollup,
        compactor: Compactor,
        expiring: Expiring,
        items: ItemStore,
        pruning: FeedPruning,
        uses: Uses,
        trail: Trail,
        clock: Clock,
        observe: Callable[[Event], None],
        fading: Fading,
        leasing: Leasing,
        dead_letters: DeadLetters,
    ) -> None:
        self._ledger = ledger
        self._resolver = resolver
        self._rollup = rollup
        self._compactor = compactor
        self._expiring = expiring
        self._items = items
        self._pruning = pruning
        self._uses = uses
        self._trail = trail
        self._clock = clock
        self._observe = observe
        self._fading = fading
        self._leasing = leasing
        self._dead_letters = dead_letters
        self._running = threading.Lock()
        self._course: Course | None = None
        self._ending = threading.Event()

    def run(
        self, names: Sequence[str], user_id: str | None = None, *, dry_run: bool = False
    ) -> list[JobRun]:
        """Run jobs by hand: on everything, not only on what changed.

        A dry run reports the changes without making them. A job that fails holds up no other; its
        run has the error.
        """
        wanted = [name for name in JOBS if name in names or ALL_JOBS in names]
        wanted += [name for name in ON_DEMAND if name in names]
        return [
            self._run_in_turn(name, user_id, everything=True, dry_run=dry_run) for name in wanted
        ]

    def run_due(self, name: str) -> JobRun:
        """Run one job on what changed since its last run."""
        return self._run_in_turn(name, None, everything=False, dry_run=False)

    def run_scheduled(self, name: str, interval: timedelta) -> JobRun | None:
        """Run one job by schedule, on what changed since its last run.

        Returns None if another process runs it, or has run it in this interval, and if the store
        is away: that is reported, and the next time runs it.
        """
        try:
            with self._turn(name) as lease:
                if lease is None or self._has_run(name, interval):
                    return None
                return self._run(lease, name, None, everything=False, dry_run=False)
        except StoreUnavailableError as error:
            self._observe(WorkerFailed(name, reason(error), interval.total_seconds()))
            return None

    def running(self) -> JobRun | None:
        """Return the job that this process runs at the moment, and how far it is."""
        course = self._course
        return None if course is None else course.under_way()

    def close(self) -> None:
        """Stop after the user under way, and write the uses that are still buffered."""
        self._ending.set()
        with self._running:
            try:
                self._count_uses(dry_run=False)
            except StoreUnavailableError as error:  # not worth a failed closing
                self._observe(WorkerFailed("usage", reason(error), retry_seconds=0.0))

    @contextmanager
    def _turn(self, name: str, *, dry_run: bool = False) -> Iterator[Lease | None]:
        """Keep other jobs of this process waiting; None while another process runs this job."""
        with self._running:
            if name == "usage" or dry_run:
                yield GRANTED
                return
            with self._leasing.held(f"job {name}") as lease:
                yield lease

    def _has_run(self, name: str, interval: timedelta) -> bool:
        """Return True if some other process has run a job in this interval."""
        if name == "usage" or not self._leasing.shared:
            return False
        last = self._ledger.meta(f"{LAST_RUN}{name}")
        since = None if last is None else self._clock.now() - datetime.fromisoformat(last)
        return since is not None and timedelta(0) <= since < _SOONEST * interval

    def _run_in_turn(
        self, name: str, user_id: str | None, *, everything: bool, dry_run: bool
    ) -> JobRun:
        """Run a job once no other process runs it. Raises StoreClosedError."""
        while True:
            with self._turn(name, dry_run=dry_run) as lease:
                if lease is not None:
                    return self._run(lease, name, user_id, everything=everything, dry_run=dry_run)
            if self._ending.wait(_TAKEN_SECONDS):
                raise StoreClosedError(
                    f"this memory was closed while another process ran the job {name}: run it again"
                )

    def _run(
        self, lease: Lease, name: str, user_id: str | None, *, everything: bool, dry_run: bool
    ) -> JobRun:
        course = self._course = Course(name, self._clock.now(), dry_run=dry_run)
        cut_off = False
        try:
            for outcome in self._outcomes(course, user_id, everything):
                course.note(outcome)
                if self._ending.is_set() or not lease.held:
                    cut_off = True
                    break
        except Exception as failure:  # the outermost loop of every job
            course.error = f"{type(failure).__name__}: {failure}"
        finally:
            self._course = None
        run = course.ended(cut_off=cut_off)
        if not dry_run:
            if user_id is None and not cut_off:  # else the other users wait for the schedule
                self._ledger.set_meta(f"{LAST_RUN}{name}", course.started.isoformat())
            if run.error or run.counts or everything:  # of those that found nothing, none is kept
                self._ledger.record_run(run)
        self._observe(JobFinished(name, run.users, dict(run.counts), run.seconds, run.error))
        return run

    def _outcomes(self, course: Course, user_id: str | None, everything: bool) -> Iterable[Outcome]:
        name, dry_run = course.name, course.dry_run
        if name == "usage":
            yield self._count_uses(dry_run=dry_run)
            return
        if name in ("redeliver", "compact"):
            yield from (
                self._dead_letters.redeliver(dry_run=dry_run)
                if name == "redeliver"
                else self._compactor.compact(user_id, course)
            )
            return
        if name == "expiry":
            yield from self._items.expire(user_id, dry_run=dry_run)
            yield from self._pruning.prune(user_id, dry_run=dry_run)
        if name in ("relevance", "expiry", "decay", ROLLUP):
            # Time passes for all.
            for user in course.each(self._ledger.pending(name, user_id, everyone=True)):
                if name == "relevance":
                    yield weigh(
                        self._ledger, user.user_id, self._clock.now(), self._fading, dry_run=dry_run
                    )
                elif name == "expiry":
                    yield self._expiring.expire(user.user_id, dry_run=dry_run)
                elif name == "decay":
                    yield self._fade(user, dry_run=dry_run)
                else:
                    yield self._rollup.roll(user, everything=everything, dry_run=dry_run)
            return
        kinds: set[Kind] = {"dedup" if name == "dedup" else "conflicts"}
        for user in course.each(self._resolver.pending(kinds, user_id, everyone=everything)):
            yield self._resolver.resolve(user, kinds, everything=everything, dry_run=dry_run)

    def _count_uses(self, *, dry_run: bool) -> Outcome:
        outcome = Outcome()
        if dry_run:
            return outcome
        self._trail.write()
        noted = self._uses.take()
        ids = list(noted)
        touched: dict[str, list[Touch]] = defaultdict(list)
        for start in range(0, len(ids), _BATCH):
            for fact in self._ledger.get(ids[start : start + _BATCH]):
                if used(fact, noted[fact.id]) != fact:
                    touched[fact.user_id].append(Touch(fact.id, used_at=noted[fact.id]))
        for user_id, changes in touched.items():
            with self._ledger.exclusive(user_id):
                self._ledger.apply(self._resolver.keeping(user_id, changes))
            outcome.counts["used"] += len(changes)
        return outcome

    def _fade(self, user: Pending, *, dry_run: bool) -> Outcome:
        with self._ledger.exclusive(user.user_id):
            # Read again: what another process has faded meanwhile isn't faded for that time again.
            for one in self._ledger.pending("decay", user.user_id, everyone=True):
                now = self._clock.now()
                if one.seen_at is not None and one.seen_at > now:
                    outcome, changes = self._regained(one, one.seen_at, now)
                else:
                    outcome, changes = self._faded(one, now)
                if not dry_run:
                    mark = Mark("decay", one.user_id, one.revision, now)
                    self._ledger.apply([*self._resolver.keeping(one.user_id, changes), mark])
                    outcome.planned.clear()
                return outcome
        return Outcome()

    def _regained(
        self, user: Pending, since: datetime, now: datetime
    ) -> tuple[Outcome, list[Change]]:
        """Undo a run at `since`, whose clock was ahead of the present one."""
        outcome = Outcome()
        changes: list[Change] = []
        for status in (Status.ACTIVE, Status.ARCHIVED):
            for fact in self._ledger.find(user.user_id, FACTS, status=status):
                back = regained(fact, since, now, self._fading)
                last = self._ledger.history(fact.id)[-1]
                if status is Status.ACTIVE:
                    if back.confidence != fact.confidence:
                        outcome.counts["regained"] += 1
                        changes.append(Touch(fact.id, confidence=back.confidence))
                elif last.action == "archived" and last.at > now:
                    outcome.counts["restored"] += 1
                    outcome.planned.append(f"restore “{fact.content}” (the clock was ahead)")
                    active = back.model_copy(update={"status": Status.ACTIVE})
                    changes.append(Update(active, "restored", now, "the clock was ahead"))
        return outcome, changes

    def _faded(self, user: Pending, now: datetime) -> tuple[Outcome, list[Change]]:
        outcome = Outcome()
        changes: list[Change] = []
        facts: list[Fact] = []
        for fact in self._ledger.find(user.user_id, FACTS):
            since = max(user.seen_at or fact.recorded_at, fact.recorded_at)
            left = faded(fact, since, now, self._fading)
            facts.append(left)
            if left.confidence != fact.confidence:
                outcome.counts["faded"] += 1
                changes.append(Touch(fact.id, confidence=left.confidence))
                outcome.planned.append(
                    f"fade “{fact.content}” from {fact.confidence:.2f} to {left.confidence:.2f}"
                )
        for decision in to_archive(facts, now, self._fading):
            reason = "; ".join(decision.reasons)
            outcome.counts["archived"] += 1
            outcome.planned.append(f"archive “{decision.fact.content}” ({reason})")
            changes.append(Update(archived(decision.fact), "archived", now, reason))
        return outcome, changes
