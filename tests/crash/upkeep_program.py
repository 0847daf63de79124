"""Sweep a store repeatedly until killed, and print each step.

python -m tests.crash.upkeep_program DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from semantic_memory import SemanticMemory
from semantic_memory.domain.events import BeliefsResolved, Event, JobFinished
from semantic_memory.domain.ports import Observer
from semantic_memory.judging.ports import Pair, Verdict
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False, cap=60, floor=0.4))
MOMENT = datetime(2026, 5, 10, 12, tzinfo=UTC)
"""Fixed time, so that a repeated sweep does the same."""
DIMENSION = 256


class Knowing:
    """A judge that knows of the facts of the test which repeat and which end one another."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return a verdict for each pair."""
        return [self._verdict(pair.older.content, pair.newer.content) for pair in pairs]

    def _verdict(self, older: str, newer: str) -> Verdict:
        both = [text.split() for text in (older, newer)]
        same = all("love" in text or "loves" in text for text in (older, newer))
        over = all(text.startswith("I live in ") for text in (older, newer))
        return Verdict(
            over=float(over),
            same=float(same and both[0][-1] == both[1][-1]),
            decided_by="knowing",
            is_final=True,
        )


def tell(event: Event) -> None:
    """Print that a user was consolidated, or a job has run."""
    if isinstance(event, BeliefsResolved | JobFinished):
        print(type(event).__name__, flush=True)


def opened(directory: Path, observer: Observer | None = None) -> SemanticMemory:
    """Open the store at the time of the sweep."""
    return SemanticMemory.open(
        directory,
        settings=SETTINGS,
        embedder=HashEmbedder(DIMENSION),
        index=InMemoryIndex(),
        pair_judge=Knowing(),
        clock=FrozenClock(MOMENT),
        observer=observer,
    )


def sweep(memory: SemanticMemory) -> None:
    """Run all upkeep until nothing is left to do."""
    memory.flush()
    while any(run.counts for run in memory.jobs.run()):
        pass


def main(directory: Path) -> None:
    print("started", flush=True)
    with opened(directory, tell) as memory:
        while True:
            sweep(memory)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
