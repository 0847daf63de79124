"""Observe messages until killed, with an extractor that finds a fact and a line in each.

python -m tests.crash.scribe DIRECTORY SEED
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from semantic_memory import Candidate, Fact, Message, SemanticMemory
from semantic_memory.domain.extraction import Extraction, HistoryLine
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.crash.program import DIMENSION, name

SETTINGS = Settings(ingest=IngestSettings(quiet_seconds=0.01))


class Scribe:
    """Extractor of a fact, a history line and a `top_of_mind` from each message."""

    name = "scribe"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Extract one fact and one line from each message."""
        del known
        return Extraction(
            candidates=tuple(
                Candidate(
                    content=message.content,
                    category="personal",
                    confidence=0.9,
                    message_ids=(message.id,),
                )
                for message in messages
            ),
            profile={"top_of_mind": messages[-1].content} if messages else {},
            history=tuple(
                HistoryLine(content=f"Heard: {message.content}", message_ids=(message.id,))
                for message in messages
            ),
        )


def opened(directory: Path) -> SemanticMemory:
    """Open the store as the program does."""
    return SemanticMemory.open(
        directory,
        settings=SETTINGS,
        embedder=HashEmbedder(DIMENSION),
        index=InMemoryIndex(),
        extractor=Scribe(),
    )


def main(directory: Path, seed: int) -> None:
    dice = random.Random(seed)
    with opened(directory) as memory:
        print("open", flush=True)
        number = 0
        while True:
            number += 1
            ids = [f"{seed}.{number}.{place}" for place in range(dice.randint(1, 3))]
            messages = [Message(id=i, role="user", content=f"Knows the {name(i)}") for i in ids]
            memory.observe(messages, user_id="u1", session_id=f"s{dice.randint(1, 3)}")
            print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
