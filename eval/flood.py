"""Many sessions at once: the cost of observing messages while all background work is busy.

A few concurrent callers observe a message of each session in turn, as fast as possible.
"""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from eval.bench import sentence
from eval.processes import resident_megabytes
from semantic_memory.domain.facts import Category
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import Message
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory

_SAMPLE_SECONDS = 0.05
_BARE = 500
_FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})


@dataclass(slots=True)
class Watch:
    """Peak threads and RAM of this process, sampled on a thread."""

    threads: int = 0
    megabytes: float = 0.0
    _ending: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Sample until the end, and keep the highest figures."""
        while not self._ending.wait(_SAMPLE_SECONDS):
            self.threads = max(self.threads, threading.active_count())
            self.megabytes = max(self.megabytes, resident_megabytes(os.getpid()))

    def end(self) -> None:
        """Stop sampling."""
        self._ending.set()


def flood(directory: Path, sessions: int, each: int, callers: int) -> dict[str, float]:
    """Observe `each` messages of `sessions` sessions from `callers` threads; times in ms."""
    dice = random.Random(0)
    texts = [[sentence(dice, n * each + turn) for turn in range(each)] for n in range(sessions)]
    directory.mkdir()
    bare = _bare_fsyncs(directory / "bare")
    with SemanticMemory.open(directory) as memory:
        memory.add("Warmed up", user_id="warm")
        memory.flush()
        before = resident_megabytes(os.getpid())
        own = threading.active_count()
        watch = Watch()
        watcher = threading.Thread(target=watch.run)
        watcher.start()
        start = time.perf_counter()
        with ThreadPoolExecutor(callers) as pool:
            lots = [range(number, sessions, callers) for number in range(callers)]
            taken = sorted(
                seconds
                for part in pool.map(lambda lot: _observe(memory, texts, lot), lots)
                for seconds in part
            )
        observed = time.perf_counter() - start
        with show.progress(quiet=False) as report:
            memory.flush(report)
        done = time.perf_counter() - start
        watch.end()
        watcher.join()
        stored = sum(info.messages for info in memory.sessions.list(user_id="flood"))
        facts = len(memory.list(user_id="flood", filters=_FACTS, limit=None))
    return {
        "sessions": sessions,
        "messages": sessions * each,
        "messages stored": stored,
        "facts": facts,
        "observe p50 ms": 1_000 * taken[len(taken) // 2],
        "observe p95 ms": 1_000 * taken[int(0.95 * (len(taken) - 1))],
        "observe p99 ms": 1_000 * taken[int(0.99 * (len(taken) - 1))],
        "a bare write and fsync p95 ms": 1_000 * bare,
        "seconds until told": observed,
        "seconds until extracted and indexed": done,
        "threads before": own,
        "threads at most": watch.threads - 1,  # the watcher
        "of them callers": callers,
        "resident MB before": before,
        "resident MB at most": watch.megabytes,
    }


def _bare_fsyncs(file: Path) -> float:
    """Return the disk's own time: the 95th percentile of appending 300 bytes, in seconds."""
    taken = []
    for _ in range(_BARE):
        start = time.perf_counter()
        with file.open("ab") as stream:
            stream.write(bytes(300))
            stream.flush()
            os.fsync(stream.fileno())
        taken.append(time.perf_counter() - start)
    return sorted(taken)[int(0.95 * (_BARE - 1))]


def _observe(memory: SemanticMemory, texts: list[list[str]], lot: range) -> list[float]:
    """Observe the messages of the sessions of `lot`, turn by turn; return the seconds of each."""
    taken = []
    for turn in range(len(texts[0])):
        for number in lot:
            message = Message(id=f"m{turn}", role="user", content=f"I said: {texts[number][turn]}")
            start = time.perf_counter()
            memory.observe([message], user_id="flood", session_id=f"s{number}")
            taken.append(time.perf_counter() - start)
    return taken
