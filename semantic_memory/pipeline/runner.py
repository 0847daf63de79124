"""Run stages on background threads, and on the caller's thread when flushed.

Several processes may run the items of one store: each item is run under a lease, and what a process
leaves behind is found by the others, who look at what is pending every few seconds.

Lock order, outermost first; a thread that holds one may only take those after it:

    1. turn of an item in a stage   held while the item runs, also across a model call; nothing but
       and its lease                another run of the same item takes it
    2. lock of a session            held while its log is read or rewritten
    3. writer lock of the ledger    held from checking what was read to the end of the transaction
    4. locks within the log, the ledger's connections, a partition, the index
"""

from __future__ import annotations

import atexit
import heapq
import itertools
import math
import os
import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from semantic_memory.concurrency import reason, stopped, stopped_by
from semantic_memory.domain.errors import ProviderError, StoreError
from semantic_memory.domain.events import Event, WorkerFailed
from semantic_memory.domain.ports import Progress
from semantic_memory.pipeline.leasing import Leasing, LocalLeases
from semantic_memory.pipeline.stage import Pace, Stage, named

_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 60.0
_PATIENCE_SECONDS = 5.0
_TOLD_AGAIN_SECONDS = 600.0
_LOOK_SECONDS = 5.0  # from one look for what other processes left to the next, on average
_LOOK_REST = 50.0  # at least, as a multiple of the time that a look took
_TAKEN_SECONDS = 2.0  # until an item that another process runs is tried again
_AT_ONCE = Pace()


@dataclass(slots=True)
class _Waiting:
    """The hints of an item since its last run; times are those of `time.monotonic`."""

    first: float
    last: float
    hints: int
    not_before: float = -math.inf
    failures: int = 0
    left: bool = False
    """Another process was hinted at the item, and this one only found it pending."""


@dataclass(slots=True)
class _Lane:
    """A stage, the items that wait for it, and those that it runs."""

    stage: Stage[Any]
    pace: Pace
    waiting: dict[Hashable, _Waiting] = field(default_factory=dict)
    running: set[Hashable] = field(default_factory=set)
    blocked: list[Hashable] = field(default_factory=list)
    """Due items that wait for a run of this stage to end."""
    threads: int = 0
    """Threads that run an item."""
    rests_until: float = -math.inf

    @property
    def has_room(self) -> bool:
        """A thread is free to run another item."""
        return self.threads < max(1, self.pace.workers)

    def due(self, item: Hashable) -> float:
        """Return when an item is due."""
        waiting, pace = self.waiting[item], self.pace
        due = min(waiting.last + pace.quiet, waiting.first + pace.most_wait)
        if waiting.hints >= pace.most_hints:
            due = waiting.last
        return max(due, waiting.not_before, self.rests_until)


class Runner:
    """Run the items of several stages. Thread-safe.

    An item stays known until a run of it has succeeded: a run that fails is tried again after
    `retry_seconds` where a model provider was at fault, else after 1, 2, 4, ... 60 s.
    """

    def __init__(
        self,
        observe: Callable[[Event], None],
        retry_seconds: float,
        threads: int,
        leasing: Leasing | None = None,
    ) -> None:
        """Run on so many `threads`; with none, only `flush` and `drain` run anything.

        Without `leasing`, no other process works on the store.
        """
        self._observe = observe
        self._retry_seconds = retry_seconds
        self._number = threads
        self._leasing = leasing or Leasing(LocalLeases())
        self._lanes: dict[str, _Lane] = {}
        self._agenda: list[tuple[float, int, _Lane, Hashable]] = []
        """A heap of times at which to look at an item, some of them out of date."""
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._process = os.getpid()
        self._stopping = threading.Event()
        self._told: dict[tuple[str, str], float] = {}
        """When a failure of a stage was last told."""

    @property
    def shared(self) -> bool:
        """Other processes work on the same store."""
        return self._leasing.shared

    def add(self, stage: Stage[Any], pace: Pace = _AT_ONCE) -> None:
        """Add a stage; `flush` runs stages in the order in which they were added."""
        self._lanes[stage.name] = _Lane(stage, pace)

    def start(self) -> None:
        """Take up what earlier processes left, and work in the background until closed or exit."""
        for lane in self._lanes.values():
            for item in lane.stage.pending():
                self._note(lane, item, 1)
        tasks = [self._work] * self._number
        if self._number and self._leasing.shared:
            tasks.append(self._watch)
        for number, task in enumerate(tasks):
            thread = threading.Thread(target=task, name=f"pipeline-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)
        if tasks:
            atexit.register(self._exit)

    def hint(self, stage: str, item: Hashable, number: int = 1) -> None:
        """Note that an item may have work for a stage; counts as `number` hints."""
        self._note(self._lanes[stage], item, number)

    def drop(self, stage: str, item: Hashable) -> None:
        """Drop the hints of an item that is gone."""
        with self._changed:
            self._lanes[stage].waiting.pop(item, None)

    def flush(self, progress: Progress | None = None) -> list[str]:
        """Run every item of the flushed stages on this thread, due or not, stage by stage.

        Returns the messages of ProviderErrors, whose items keep waiting. Raises a StoreError at
        once, also StoreClosedError if the runner is closed meanwhile; any other error of an item
        once the others are done.
        """
        lanes = [lane for lane in self._lanes.values() if lane.pace.flushed]
        found = [error for lane in lanes for error in self._drained(lane, progress)]
        return _failures(found)

    def drain(self, stage: str, progress: Progress | None = None) -> list[str]:
        """Run every item of one stage, as `flush` does."""
        return _failures(list(self._drained(self._lanes[stage], progress)))

    def settle(self, stage: str, item: Hashable) -> list[str]:
        """Run one item of a stage until it has no work left, as `flush` does.

        A stage that `flush` leaves out runs nothing.
        """
        lane = self._lanes[stage]
        if not lane.pace.flushed:
            return []
        self._note(lane, item, 0)
        return _failures(list(self._settled(lane, item, _Report(lane.stage, None))))

    def stop(self) -> None:
        """Begin no further run."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()

    def close(self) -> None:
        """Stop, and wait for the runs under way; at most 5 s, since a model may take longer."""
        self.stop()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if not any(thread.is_alive() for thread in self._threads):
            atexit.unregister(self._exit)

    def _exit(self) -> None:
        """Close before the interpreter ends, as daemon threads can't return from native code then.

        A forked child has no such threads.
        """
        if os.getpid() == self._process:
            self.close()

    # ---------------------------------------------------------------- running

    def _drained(self, lane: _Lane, progress: Progress | None) -> Iterator[Exception]:
        for item in lane.stage.pending():
            self._note(lane, item, 0)
        with self._changed:
            items = list(lane.waiting)
        report = _Report(lane.stage, progress)
        for item in items:
            yield from self._settled(lane, item, report)

    def _settled(self, lane: _Lane, item: Hashable, report: _Report) -> Iterator[Exception]:
        again: float | None = 0.0
        while again is not None:
            if self._stopping.wait(again):
                raise stopped()
            with self._turn(lane, item):
                again, error = self._attempt(lane, item)
            if isinstance(error, StoreError):
                raise error
            if error is not None:
                yield error
            report.tell()

    def _work(self) -> None:
        while (found := self._next()) is not None:
            lane, item = found
            start = time.monotonic()
            try:
                _, error = self._attempt(lane, item)
                if error is not None and not isinstance(error, ProviderError):
                    self._tell_of(lane, item, error)
            finally:
                end = time.monotonic()
                with self._changed:
                    lane.rests_until = end + lane.pace.rest * (end - start)
                    self._end(lane, item)

    def _attempt(self, lane: _Lane, item: Hashable) -> tuple[float | None, Exception | None]:
        """Run an item; returns when it wants to run again, and the error that it failed with."""
        with self._changed:
            waiting = lane.waiting.get(item)
            seen, last = (waiting.hints, waiting.last) if waiting else (0, -math.inf)
        try:
            again = self._run(lane, item)
        except Exception as error:  # the outermost loop of all background work
            self._postpone(lane, item, error)
            return None, error
        with self._changed:
            waiting = lane.waiting.get(item)
            if waiting is not None:
                waiting.failures = 0
                if again is not None:
                    waiting.not_before = time.monotonic() + again
                elif waiting.hints <= seen and waiting.last <= last:
                    del lane.waiting[item]
                else:  # hints that came during the run
                    waiting.hints -= seen
                    waiting.first, waiting.not_before = waiting.last, -math.inf
        return again, None

    def _run(self, lane: _Lane, item: Hashable) -> float | None:
        """Run an item under its lease; come back to one that another process runs."""
        with stopped_by(self._stopping):
            if not lane.pace.leased:
                return lane.stage.run(item)
            with self._leasing.held(named(lane.stage.name, item)) as lease:
                return _TAKEN_SECONDS if lease is None else lane.stage.run(item)

    def _postpone(self, lane: _Lane, item: Hashable, error: Exception) -> None:
        with self._changed:
            waiting = lane.waiting.get(item)
            if waiting is None:
                return
            pause = self._retry_seconds
            if not isinstance(error, ProviderError):
                pause = min(_FIRST_RETRY_SECONDS * 2**waiting.failures, _LAST_RETRY_SECONDS)
                waiting.failures += 1
            waiting.not_before = time.monotonic() + pause

    def _tell_of(self, lane: _Lane, item: Hashable, error: Exception) -> None:
        waiting = lane.waiting.get(item)
        if waiting is not None:
            self._tell(lane, error, waiting.not_before - time.monotonic())

    def _tell(self, lane: _Lane, error: Exception, pause: float) -> None:
        if self._stopping.is_set():
            return
        now = time.monotonic()
        step, said = lane.stage.name, reason(error)
        with self._changed:
            repeated = now < self._told.get((step, said), -math.inf) + _TOLD_AGAIN_SECONDS
            if not repeated:
                self._told[step, said] = now
        self._observe(WorkerFailed(step, said, round(max(0.0, pause), 1), repeated))

    # ---------------------------------------------------------------- other processes

    def _watch(self) -> None:
        """Look for what other processes left, at times of its own; rarely where that takes long."""
        pause = _LOOK_SECONDS
        while not self._stopping.wait(pause * random.uniform(0.5, 1.5)):  # noqa: S311 - no secret
            start = time.monotonic()
            for lane in self._lanes.values():
                try:
                    self._look(lane)
                except Exception as error:  # the outermost loop of this thread
                    self._tell(lane, error, pause)
            pause = max(_LOOK_SECONDS, _LOOK_REST * (time.monotonic() - start))

    def _look(self, lane: _Lane) -> None:
        """Take up pending items of other processes, once those have had the time."""
        if not lane.pace.workers:
            return
        found = dict.fromkeys(lane.stage.pending())
        now = time.monotonic()
        with self._changed:
            for item in found.keys() - lane.waiting.keys() - lane.running:
                last = now + max(0.0, lane.pace.most_wait - lane.pace.quiet)
                lane.waiting[item] = _Waiting(first=now, last=last, hints=0, left=True)
                self._schedule(lane, item)
            for item, waiting in [*lane.waiting.items()]:
                if waiting.left and item not in found:  # its turn hasn't come: it was done
                    del lane.waiting[item]

    # ---------------------------------------------------------------- turns

    @contextmanager
    def _turn(self, lane: _Lane, item: Hashable) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: item not in lane.running and lane.has_room)
            lane.running.add(item)
            lane.threads += 1
        try:
            yield
        finally:
            with self._changed:
                self._end(lane, item)

    def _next(self) -> tuple[_Lane, Hashable] | None:
        """Wait for an item that is due, and begin its turn; None once the runner stops."""
        with self._changed:
            while not self._stopping.is_set():
                now = time.monotonic()
                while self._agenda and self._agenda[0][0] <= now:
                    _, _, lane, item = heapq.heappop(self._agenda)
                    if item not in lane.waiting:
                        continue
                    if lane.due(item) > now:
                        self._schedule(lane, item)
                    elif item in lane.running or not lane.has_room:
                        lane.blocked.append(item)
                    else:
                        lane.running.add(item)
                        lane.threads += 1
                        return lane, item
                self._changed.wait(self._agenda[0][0] - now if self._agenda else None)
        return None

    def _end(self, lane: _Lane, item: Hashable) -> None:
        """End an item's turn, and schedule what waited for it."""
        lane.running.discard(item)
        lane.threads -= 1
        blocked, lane.blocked = lane.blocked, []
        for other in dict.fromkeys((item, *blocked)):
            if other in lane.waiting:
                self._schedule(lane, other)
        self._changed.notify_all()

    def _note(self, lane: _Lane, item: Hashable, number: int) -> None:
        now = time.monotonic()
        with self._changed:
            waiting = lane.waiting.get(item)
            if waiting is None:
                lane.waiting[item] = _Waiting(first=now, last=now, hints=number)
                self._schedule(lane, item)
                return
            before = lane.due(item)
            waiting.last = now
            waiting.left = False
            waiting.hints += number
            if lane.pace.eager:
                waiting.not_before = -math.inf
            if lane.due(item) < before:  # what is due later is found to be when its time comes
                self._schedule(lane, item)

    def _schedule(self, lane: _Lane, item: Hashable) -> None:
        if not self._number or not lane.pace.workers:
            return
        due = lane.due(item)
        if not self._agenda or due < self._agenda[0][0]:
            self._changed.notify_all()
        heapq.heappush(self._agenda, (due, next(self._order), lane, item))


def _failures(found: Sequence[Exception]) -> list[str]:
    """Return the messages of ProviderErrors. Raises the first error of another kind."""
    for error in found:
        if not isinstance(error, ProviderError):
            raise error
    return [str(error) for error in found]


class _Report:
    """Progress of a stage, told after each run."""

    def __init__(self, stage: Stage[Any], progress: Progress | None) -> None:
        self._stage = stage
        self._progress = progress
        self._doing = ""
        self._total = 0
        if progress is not None:
            self._look()

    def tell(self) -> None:
        if self._progress is not None:
            left = self._look()
            self._progress(self._doing, self._total - left, self._total)

    def _look(self) -> int:
        doing, left = self._stage.outlook()
        self._total = left if doing != self._doing else max(self._total, left)
        self._doing = doing
        return left
