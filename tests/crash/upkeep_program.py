"""Sweeps a store, over and over, until it is killed.

python -m tests.crash.upkeep_program DIRECTORY
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from semantic_memory import SemanticMemory
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False, cap=60, floor=0.4))
MOMENT = datetime(2026, 5, 10, 12, tzinfo=UTC)
"""Time stands still, so that a sweep that is done again does the same."""
DIMENSION = 256


def opened(directory: Path) -> SemanticMemory:
    """The store, at the moment of the sweep."""
    return SemanticMemory.open(
        directory,
        settings=SETTINGS,
        embedder=HashEmbedder(DIMENSION),
        index=InMemoryIndex(),
        clock=FrozenClock(MOMENT),
    )


def sweep(memory: SemanticMemory) -> None:
    """Everything that upkeep does, until nothing is left to do."""
    memory.flush()
    while any(run.counts for run in memory.maintain()):
        pass


def main(directory: Path) -> None:
    print("started", flush=True)
    with opened(directory) as memory:
        while True:
            sweep(memory)
            print("swept", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
