"""Growth of a store: speed, RAM and disk over the number of users, and of one user's memories.

Each size is built in one process and measured in another, in a directory of its own. Vectors are
drawn around centres, so that nothing is embedded; facts go through `transfer.add_many`
with its gate, the index is filled from the ledger, and the files of partitions are written, as is
done in the background. Duplicates and conflicts are looked for by `jobs.run`, of one user.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from eval.processes import family, megabytes_on_disk, milliseconds, resident_megabytes
from eval.vectors import CentredEmbedder, question, statement
from semantic_memory.disk import SystemDisk
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.memory import SemanticMemory
from semantic_memory.retrieval import search as searching
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.partition_files import PartitionFiles
from semantic_memory.settings import IndexSettings, IngestSettings, Settings
from semantic_memory.testing import InMemoryIndex

_BATCH = 1_000
_WARM = 50
"""Number of users that are searched again and again."""
_SEARCHES = 200
_LIBRARY_BYTES = 32_000_000
"""RAM for users in a library, by default."""
_COMPARED = 50
"""Number of questions whose hits are compared with those of ranking all memories."""
_MAINTAINED = 10_000
"""Number of a user's memories up to which `jobs.run` is measured; it takes some ms for each."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a store."""

    users: int
    each: int
    """Number of memories of each user."""

    @property
    def memories(self) -> int:
        """Number of memories in all."""
        return self.users * self.each


@dataclass(frozen=True, slots=True)
class Grown:
    """Figures of a store of one size; those that weren't measured are missing."""

    size: Size
    figures: dict[str, float]


def measure_growth(sizes: Sequence[Size]) -> Iterator[Grown]:
    """Build and measure a store of each size, in processes and a directory of their own."""
    for size in sizes:
        with TemporaryDirectory(prefix="semantic-memory-growth-") as scratch:
            directory = Path(scratch, "store")
            steps = (build, keep, _measure)
            figures = [_apart(step, directory, size) for step in steps]
            yield Grown(size, dict(ChainMap(*reversed(figures))))


def _apart(
    step: Callable[[Path, Size], dict[str, float]], directory: Path, size: Size
) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(step, directory, size).result()


def build(directory: Path, size: Size) -> dict[str, float]:
    """Fill a store, and its index."""
    dice = random.Random(0)
    with open_store(directory) as memory:
        start = time.perf_counter()
        for user in range(size.users):
            for first in range(0, size.each, _BATCH):
                numbers = range(first, min(first + _BATCH, size.each))
                items = [{"content": statement(dice, number)} for number in numbers]
                memory.transfer.add_many(items, user_id=_name(user))
        added = time.perf_counter()
        memory.admin.rebuild()
        filled = time.perf_counter()
    return {
        "add_many, a memory, ms": 1_000 * (added - start) / size.memories,
        "index, a memory, ms": 1_000 * (filled - added) / size.memories,
    }


def keep(directory: Path, size: Size) -> dict[str, float]:
    """Write the files of partitions in the RAM that a library has for them."""
    start = time.perf_counter()
    with closing(SqliteLedger(directory / "ledger.sqlite3")) as ledger:
        files = PartitionFiles(directory / "partitions", ledger, SystemDisk())
        index = ExactIndex(
            ledger,
            InMemoryIndex(),  # of nothing: large users have no answer before they have a file
            budget_bytes=_LIBRARY_BYTES,
            limit=IndexSettings().exact_limit,
            files=files,
        )
        for user in range(size.users):
            index.snapshot(_name(user))
            index.keep(_name(user))
    return {"file, a memory, ms": 1_000 * (time.perf_counter() - start) / size.memories}


def _measure(directory: Path, size: Size) -> dict[str, float]:
    dice = random.Random(1)
    start = time.perf_counter()
    with open_store(directory) as memory:
        opened = time.perf_counter()
        figures = {"open, ms": 1_000 * (opened - start)}

        def search(user: int) -> float:
            return milliseconds(lambda: memory.search(question(dice), user_id=_name(user)))

        figures["first search, ms"] = search(0)
        cold = [search(user) for user in range(1, min(size.users, _WARM))]
        if cold:
            figures["first search of another user, ms"] = statistics.median(cold)
        memory.admin.check()  # levels and opens the index, which background work would do
        warm = sorted(search(dice.randrange(min(size.users, _WARM))) for _ in range(_SEARCHES))
        figures["search p50, ms"] = statistics.median(warm)
        figures["search p95, ms"] = warm[int(0.95 * (_SEARCHES - 1))]
        if size.each > searching.WHOLE:
            figures["share of the hits of ranking all"] = agreement(memory)
        figures["resident, MB"] = sum(map(resident_megabytes, family(os.getpid())))
        figures |= _disk(directory)
        if size.each <= _MAINTAINED:
            figures["maintain a user, s"] = (
                milliseconds(lambda: memory.jobs.run(user_id=_name(0))) / 1_000
            )
        figures["forget a user, ms"] = milliseconds(
            lambda: memory.forget(user_id=_name(0), everything=True)
        )
    return figures


def agreement(memory: SemanticMemory) -> float:
    """Return the share of the ten best of ranking all memories that searches find."""
    dice = random.Random(2)
    asked = [question(dice) for _ in range(_COMPARED)]

    def found() -> list[set[str]]:
        hits = (memory.search(one, user_id=_name(0), k=10) for one in asked)
        return [{hit.fact.id for hit in own} for own in hits]

    usual = found()
    with patch.object(searching, "WHOLE", math.inf):  # no setting ranks all: only this needs it
        whole = found()
    both = sum(len(one & other) for one, other in zip(usual, whole, strict=True))
    return both / sum(map(len, whole))


@contextmanager
def open_store(directory: Path) -> Iterator[SemanticMemory]:
    """Open a store, without work in the background."""
    settings = Settings(data_dir=directory, ingest=IngestSettings(background=False))
    with SemanticMemory.open(settings=settings, embedder=CentredEmbedder()) as memory:
        yield memory


def _disk(directory: Path) -> dict[str, float]:
    ledger = sum(map(megabytes_on_disk, directory.glob("ledger.sqlite3*")))
    index = megabytes_on_disk(directory / "chroma")
    return {
        "ledger, MB": ledger,
        "index, MB": index,
        "logs and locks, MB": megabytes_on_disk(directory) - ledger - index,
    }


def _name(user: int) -> str:
    return f"user-{user}"
