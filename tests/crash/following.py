"""Add facts until killed, and follow the feed meanwhile; print what was added and what was told.

python -m tests.crash.following DIRECTORY AFTER
"""

from __future__ import annotations

import sys
import threading
from itertools import count
from pathlib import Path

from semantic_memory import SemanticMemory
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.crash.program import name

_printing = threading.Lock()


def say(*words: str) -> None:
    with _printing:
        print(*words, flush=True)


def follow(memory: SemanticMemory, after: int) -> None:
    for event in memory.events.subscribe(after=after, kinds=["added"]):
        say("told", str(event.id), event.memory_id or "")


def main(directory: Path, after: int) -> None:
    with SemanticMemory.open(directory, embedder=HashEmbedder(), index=InMemoryIndex()) as memory:
        threading.Thread(target=follow, args=(memory, after), daemon=True).start()
        for number in count():
            fact = memory.add(f"Knows the {name(f'{after}.{number}')}", user_id="u1")
            say("added", fact.id)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
