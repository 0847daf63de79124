"""Time that keys, kept answers and rates take of a request, in files and in a shared database."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from semantic_memory.concurrency import SystemClock
from semantic_memory.entrypoints.api.access import Rates
from semantic_memory.entrypoints.api.replies import Reply
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state import ServiceState, opened

_PER_MINUTE = 60_000
_ANSWER = Reply("print", 201, "application/json", b'{"user_id":"maya","content":"' + b"x" * 500)

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Cost:
    """The median time of a call of each kind of state, in milliseconds."""

    call: str
    files: float
    database: float


def measure_state(url: str, rounds: int) -> Iterator[Cost]:
    """Yield the median of each call, in turns; the schema at `url` gets some rows more."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        files, database = (
            _calls(stack, stack.enter_context(opened(directory, None, place)))
            for place in (None, url)
        )
        for name in files:
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds):
                for taken, call in zip(times, (files[name], database[name]), strict=True):
                    start = time.perf_counter()
                    call()
                    taken.append((time.perf_counter() - start) * 1e3)
            yield Cost(name, *map(statistics.median, times))


def count_draws(url: str, per_second: int, seconds: float) -> tuple[int, float]:
    """Send one caller's requests at a steady pace; return their number, and the shares drawn."""
    drawn = requests = 0
    name = uuid4().hex
    with opened(Path(), None, url) as state:
        rates = state.rates(_PER_MINUTE)
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            while requests < passed * per_second:
                requests += 1
                drawn += _sent(rates, name)
            time.sleep(1 / per_second)
    return requests, drawn / seconds


def _calls(stack: ExitStack, state: ServiceState) -> dict[str, Call]:
    keys, rates = state.keys(), state.rates(_PER_MINUTE)
    replies = stack.enter_context(state.replies(SystemClock()))
    key, token = keys.create("measured", ["maya"], [Right.READ], datetime.now(UTC))
    stack.callback(keys.revoke, key.id)
    caller = uuid4().hex

    def answer_once() -> None:
        name = uuid4().hex
        replies.begin(name)
        replies.keep(name, _ANSWER)

    return {
        "look up a key": lambda: (keys.at_hand() or keys.read()).find(token),
        "read the keys as a new worker": lambda: state.keys().read(),
        "count a request": lambda: _sent(rates, caller),
        "count a caller's first request": lambda: _sent(rates, uuid4().hex),
        "begin a write and keep its answer": answer_once,
    }


def _sent(rates: Rates, name: str) -> bool:
    """Count a request; return True if a share had to be drawn."""
    if rates.take(name) is not None:
        return False
    rates.draw(name)
    return True
