"""Time of upkeep over a whole store, through the ledger, on one core, with given vectors."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from rich.table import Table

from semantic_memory.bootstrap import Parts, UseCases, build
from semantic_memory.bootstrap.embedder import check_embedder
from semantic_memory.domain.changes import Add, FactVectors, Matrix
from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

SIZES = ((1_000, 100), (1, 10_000))
"""Numbers of users, and of facts of each."""
DIMENSION = 384
_START = datetime(2025, 1, 1, tzinfo=UTC)
_DAYS = 365
_ALIKE = 0.25  # share of a user's vectors that lie near another one
_SWEEP = ("dedup", "conflicts", "decay")
_WHAT = "lives in,works at,likes,hates,visited,plays,is learning,bought,has,prefers,uses".split(",")
_KIND = "red,blue,old,new,big,tiny,quiet,loud,plain,sharp,warm,rare".split(",")
_THING = "Lisbon,Acme,jazz,coffee,guitar,Spanish,bike,dog,tea,Rust,boat,lamp,chess".split(",")


class Taken(NamedTuple):
    """Times of a sweep, with its outcome."""

    sweep: str
    wall: float
    cpu: float
    found: str


class _NoVectors(InMemoryIndex):
    """Index that holds nothing, as Chroma runs in a process of its own."""

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Ignore entries."""


class Timed(NamedTuple):
    """Sweeps of one store."""

    users: int
    each: int
    sweeps: list[Taken]
    peak_megabytes: int
    """Peak RAM of the process."""
    grown_megabytes: int
    """Growth of the peak since the store was opened."""


def timed(sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[Timed]:
    """Build a store of each size, then sweep it in a process of its own."""
    for users, each in sizes:
        with TemporaryDirectory(prefix="semantic-memory-sweep-") as scratch:
            fill(Path(scratch), users, each)
            with _one_core(), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                yield apart.submit(_sweep, Path(scratch), users, each).result()


@contextmanager
def _one_core() -> Iterator[None]:
    """Restrict processes started in the context to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def table(timed: Timed) -> Table:
    """Return a table of the seconds and the RAM of each sweep."""
    shown = Table(
        "sweep",
        "wall s",
        "CPU s",
        "what was done",
        title=f"{timed.users:,} users of {timed.each:,} facts",
        caption=f"peak {timed.peak_megabytes} MB, {timed.grown_megabytes} MB of it since opening",
    )
    for sweep in timed.sweeps:
        shown.add_row(sweep.sweep, f"{sweep.wall:.1f}", f"{sweep.cpu:.1f}", sweep.found)
    return shown


def fill(directory: Path, users: int, each: int) -> None:
    """Build a store of synthetic facts that no job has processed."""
    directory.mkdir(parents=True, exist_ok=True)
    ledger = SqliteLedger(directory / "ledger.sqlite3")
    check_embedder(ledger, HashEmbedder(DIMENSION).identity)
    for number in range(users):
        facts, vectors = _facts(f"user-{number}", each)
        none = np.empty((0, DIMENSION), dtype=np.float32)
        ledger.apply(
            [
                Add(fact, FactVectors(row[None, :], none))
                for fact, row in zip(facts, vectors, strict=True)
            ]
        )
    ledger.close()


def _sweep(directory: Path, users: int, each: int) -> Timed:
    settings = Settings(data_dir=directory, upkeep=UpkeepSettings(schedule=False))
    clock = FrozenClock(_START + timedelta(days=_DAYS + 7))
    start = time.perf_counter(), time.process_time()
    before = _peak()
    store = build(
        settings,
        Parts(embedder=HashEmbedder(DIMENSION), index=_NoVectors(), clock=clock),
    )
    store.maintenance.flush()
    jobs = store.maintenance.jobs
    took = time.perf_counter() - start[0], time.process_time() - start[1]
    settled = f"{_left(store):,} of {users * each:,} facts left"
    sweeps = [
        Taken("opening: new facts (dedup and conflicts at once)", *took, settled),
        _timed("by hand: everything", lambda: jobs.run(_SWEEP)),
        _timed(
            "by schedule: the rest",
            lambda: [jobs.run_due(job) for job in _SWEEP],
        ),
    ]
    peak = _peak()
    store.close()
    return Timed(users, each, sweeps, peak, peak - before)


def _timed(sweep: str, run: Callable[[], list[JobRun]]) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    runs = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = ", ".join(
        f"{job.job} {job.seconds:.1f} s {dict(job.counts) or ''}".rstrip() for job in runs
    )
    return Taken(sweep, wall, cpu, found)


def _left(store: UseCases) -> int:
    tally = store.statistics.stats().by_category_and_status
    return sum(number for kind, number in tally.items() if kind.endswith("/active"))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _facts(user_id: str, size: int) -> tuple[list[Fact], Matrix]:
    """Return facts of a synthetic user, a quarter of them near another one in meaning."""
    dice = np.random.default_rng([size, int(user_id.rpartition("-")[2])])
    facts = []
    for number in range(size):
        said = _START + timedelta(days=int(dice.integers(_DAYS)), seconds=number)
        facts.append(
            Fact(
                id=f"{user_id}.{number}",
                user_id=user_id,
                content=f"The user {dice.choice(_WHAT)} {dice.choice(_KIND)} {dice.choice(_THING)}"
                f" {_word(int(dice.integers(size)))}.",
                category=Category.PROJECT,
                confidence=0.9,
                created_at=said,
                recorded_at=said,
                valid_from=said,
                source=Source(session_id="s", message_ids=(f"m{number}",), position=number),
            )
        )
    vectors = dice.standard_normal((size, DIMENSION)).astype(np.float32)
    near = int(_ALIKE * size)
    vectors[:near] = vectors[near : 2 * near] + 0.4 * vectors[:near]
    return facts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _word(number: int) -> str:
    """Return a word for a number; digits would make the newer of two facts supersede the older."""
    return "".join("bcdfghjklm"[int(digit)] + "a" for digit in str(number))
