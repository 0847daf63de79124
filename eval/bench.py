"""Speed and RAM of a store with one large user and many small ones.

Sentences are generated from a fixed list of words, so that every run measures the same store.
Measuring uses one core; building uses all.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eval.processes import resident_megabytes
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Progress
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory

_LARGE = 5_000
_SUBJECTS = "I, we, my sister, our team, my neighbour, the customer, my manager, Ida".split(", ")
_VERBS = "moved, painted, deployed, bought, planned, measured, visited, lost".split(", ")
_OBJECTS = (
    "the scheduler, a flat in Neukölln, the staging cluster, a lake sunrise, the compaction report,"
    " two tickets to Bergen, the German class, an old bicycle, the read latency dashboard, a talk"
    " about storage engines, oat milk, the key rotation script, a birthday present, the beta"
).split(", ")
_TIMES = "yesterday, last week, in March, on Tuesday, before the beta, again, at last".split(", ")
_QUESTIONS = (
    "When did we measure the read latency?",
    "What did my sister buy?",
    "Who visited the customer in March?",
    "What happened before the release?",
    "Which talk did I plan?",
    "Where is the flat?",
)


def sentence(dice: random.Random, number: int) -> str:
    """Return a unique sentence of a dozen words."""
    parts = [dice.choice(words) for words in (_SUBJECTS, _VERBS, _OBJECTS, _TIMES)]
    return f"{' '.join(parts)}, and wrote it down as note {number}."


def build_store(directory: Path, users: int, each: int) -> float:
    """Build a store; return the messages observed, embedded and indexed a second."""
    with show.progress(quiet=False) as report, SemanticMemory.open(directory) as memory:
        return _fill(memory, _LARGE, users, each, report)


def _fill(memory: SemanticMemory, large: int, users: int, each: int, progress: Progress) -> float:
    dice = random.Random(0)
    said = datetime(2026, 1, 1, tzinfo=UTC)
    start = time.perf_counter()
    for user_id, number in [("large", large), *((f"user-{n}", each) for n in range(users))]:
        messages = [
            Message(
                id=f"m{place}",
                role="user" if place % 2 else "assistant",
                content=sentence(dice, place),
                created_at=said + timedelta(minutes=place),
            )
            for place in range(number)
        ]
        for first in range(0, number, 50):
            memory.observe(
                messages[first : first + 50], user_id=user_id, session_id=f"s{first // 50}"
            )
    memory.flush(progress)
    return (large + users * each) / (time.perf_counter() - start)


def measure_store(directory: Path, users: int, each: int) -> dict[str, float]:
    """Open a store and measure it on one core. Times are in milliseconds."""
    dice = random.Random(1)
    with _one_core():
        start = time.perf_counter()
        memory = SemanticMemory.open(directory)
        opened = time.perf_counter() - start
        with memory:
            figures = {"open ms": 1_000 * opened}
            memory.search("warm up", user_id="large")

            def search_large() -> None:
                memory.search(dice.choice(_QUESTIONS), user_id="large")

            def search_any() -> None:
                memory.search(dice.choice(_QUESTIONS), user_id=f"user-{dice.randrange(users)}")

            def context() -> None:
                memory.context(dice.choice(_QUESTIONS), user_id="large", budget=2_000)

            def observe() -> None:
                message = Message(role="user", content=sentence(dice, dice.randrange(10**9)))
                memory.observe([message], user_id="writer", session_id="s")

            def add() -> None:
                memory.add(sentence(dice, dice.randrange(10**9)), user_id="writer")

            figures |= _timed(f"search, {_LARGE:,} memories", search_large, 300)
            if users:
                figures |= _timed(f"search, one of {users:,} users", search_any, 1_000)
            context()
            figures["resident MB"] = resident_megabytes(os.getpid())
            figures |= _timed("context of 2,000 tokens", context, 100)
            figures |= _timed("observe", observe, 200)
            figures |= _timed("add", add, 200)
            figures["memories"] = _LARGE + users * each
    return figures


def _timed(name: str, call: Callable[[], None], times: int) -> dict[str, float]:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(1_000 * (time.perf_counter() - start))
    taken.sort()
    return {
        f"{name}: p50 ms": statistics.median(taken),
        f"{name}: p95 ms": taken[int(0.95 * (times - 1))],
    }


@contextmanager
def _one_core() -> Iterator[None]:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
