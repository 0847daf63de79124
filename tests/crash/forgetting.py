"""Forget until killed at a step of the way.

python -m tests.crash.forgetting DIRECTORY fact|session STEP
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from semantic_memory import Fact, Message, SemanticMemory
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.crash.steps import count_calls

KEY: dict[str, Any] = {"user_id": "u1", "session_id": "s1"}
SAID = ("My sister Anna is getting divorced. We had pasta.", "I like tea", "I live in Oslo")


class Reading:
    """An extractor that finds one fact in the first message."""

    name = "scripted"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        """Return the fact, if the first message is among those read."""
        del known
        found = Candidate(
            content="Anna is getting divorced",
            category="personal",
            confidence=0.9,
            message_ids=("m0",),
        )
        said = any(one.id == "m0" and "divorced" in one.content for one in messages)
        return Extraction(candidates=(found,) if said else ())


def opened(directory: Path) -> SemanticMemory:
    """Open the store without background work."""
    return SemanticMemory.open(
        directory,
        settings=Settings(ingest=IngestSettings(background=False)),
        embedder=HashEmbedder(),
        index=InMemoryIndex(),
        extractor=Reading(),
    )


def fill(directory: Path) -> None:
    """Build the store in which something is forgotten."""
    with opened(directory) as memory:
        memory.observe(
            [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(SAID)], **KEY
        )
        memory.flush()


def forget(memory: SemanticMemory, what: str) -> None:
    """Forget a fact, or a session."""
    if what == "session":
        memory.forget(**KEY)
        return
    (fact,) = (one for one in memory.list(user_id="u1") if one.content.startswith("Anna"))
    memory.delete(fact.id)


def main(directory: Path, what: str, step: int) -> None:
    """Forget, and kill this process as it enters the pipeline or the log for the `step`th time."""
    watched = ("session_log.py", "log_file.py", "sessions.py", "erasing.py", "changes.py")
    with opened(directory) as memory:
        print(count_calls(partial(forget, memory, what), watched, step))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
