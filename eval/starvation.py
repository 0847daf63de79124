"""The wait of one user's calls while another user floods the store.

Each call is timed on a quiet store first, and then while threads observe messages of another user
as fast as they can, with all background work behind them.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from eval.bench import sentence
from semantic_memory.domain.messages import Message
from semantic_memory.memory import SemanticMemory

_MEMORIES = 200
"""Memories of the user who waits."""

Seconds = Mapping[str, list[float]]


class Waits(NamedTuple):
    """The times of a call, in seconds."""

    quiet: float
    loaded: float
    """Medians."""
    longest: float
    """The longest under load."""


def starvation(directory: Path, rounds: int, flooding: int) -> dict[str, Waits]:
    """Return the times of each call.

    `flooding` is the number of threads that observe messages of the other user.
    """
    dice = random.Random(0)
    with SemanticMemory.open(directory) as memory:
        memory.transfer.add_many(
            [{"content": sentence(dice, n)} for n in range(_MEMORIES)], user_id="calm"
        )
        memory.flush()
        quiet = _timed(memory, rounds)
        with _flood(memory, flooding):
            loaded = _timed(memory, rounds)
    return {
        call: Waits(statistics.median(own), statistics.median(loaded[call]), max(loaded[call]))
        for call, own in quiet.items()
    }


def _timed(memory: SemanticMemory, rounds: int) -> Seconds:
    taken: dict[str, list[float]] = {}
    for number in range(rounds):
        for name, call in _calls(memory, number):
            start = time.perf_counter()
            call()
            taken.setdefault(name, []).append(time.perf_counter() - start)
    return taken


def _calls(memory: SemanticMemory, number: int) -> Iterator[tuple[str, Callable[[], object]]]:
    text = f"The spare key number {number} hangs behind the blue door at {time.time()}"
    yield "add", lambda: memory.add(text, user_id="calm")
    yield "search", lambda: memory.search("Where is the spare key?", user_id="calm")
    yield "context", lambda: memory.context("Where is the spare key?", user_id="calm", budget=500)
    yield "forget", lambda: memory.forget(user_id="calm", query="spare key behind the blue door")
    yield "check", memory.admin.check


@contextmanager
def _flood(memory: SemanticMemory, threads: int) -> Iterator[None]:
    """Observe messages of another user from several threads while the context lasts."""
    ending = threading.Event()
    numbers = count()

    def observe(seed: int) -> None:
        dice = random.Random(seed)
        while not ending.is_set():
            number = next(numbers)
            message = Message(role="user", content=f"I said: {sentence(dice, number)}")
            memory.observe([message], user_id="flood", session_id=f"s{number % 50}")

    workers = [threading.Thread(target=observe, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        ending.set()
        for worker in workers:
            worker.join()
