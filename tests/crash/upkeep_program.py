"""Sweeps a store, over and over, until it is killed, telling of each step.

python -m tests.crash.upkeep_program DIRECTORY
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from semantic_memory import SemanticMemory
from semantic_memory.domain.events import BeliefsResolved, Event, JobFinished
from semantic_memory.domain.ports import Observer
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False, cap=60, floor=0.4))
MOMENT = datetime(2026, 5, 10, 12, tzinfo=UTC)
"""Time stands still, so that a sweep that is done again does the same."""
DIMENSION = 256


def tell(event: Event) -> None:
    """Say that a user was settled, or a job done."""
    if isinstance(event, BeliefsResolved | JobFinished):
        print(type(event).__name__, flush=True)


def opened(directory: Path, observer: Observer | None = None) -> SemanticMemory:
    """The store, at the moment of the sweep."""
    return SemanticMemory.open(
        directory,
        settings=SETTINGS,
        embedder=HashEmbedder(DIMENSION),
        index=InMemoryIndex(),
        clock=FrozenClock(MOMENT),
        observer=observer,
    )


def sweep(memory: SemanticMemory) -> None:
    """Everything that upkeep does, until nothing is left to do."""
    memory.flush()
    while any(run.counts for run in memory.maintain()):
        pass


def main(directory: Path) -> None:
    print("started", flush=True)
    with opened(directory, tell) as memory:
        while True:
            sweep(memory)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
