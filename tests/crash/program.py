"""Write at random until killed, and print acknowledged writes.

python -m tests.crash.program DIRECTORY SEED
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from semantic_memory import Fact, Message, SemanticMemory
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category
from semantic_memory.settings import IndexSettings, IngestSettings, Settings
from semantic_memory.testing import HashEmbedder

SETTINGS = Settings(
    index=IndexSettings(sync_threshold=20),  # so that Chroma flushes often
    ingest=IngestSettings(quiet_seconds=0.1),
)
USERS = ("u1", "u2")
DIMENSION = 512  # so that sentences that differ by a word are never nearly the same


class Repeating:
    """An extractor that takes each message for a fact, and each fact for new."""

    name = "repeating"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Return a fact for each message."""
        found = [
            Candidate(
                content=message.content,
                category=Category.PREFERENCE,
                confidence=0.7,
                message_ids=(message.id,),
            )
            for message in messages
        ]
        return Extraction(candidates=tuple(found), decided=True)


def opened(directory: Path) -> SemanticMemory:
    """Open the store of the program."""
    return SemanticMemory.open(
        directory, settings=SETTINGS, embedder=HashEmbedder(DIMENSION), extractor=Repeating()
    )


def say(*words: str) -> None:
    print(*words, flush=True)


def name(number: str) -> str:
    """Return a word for a number; digits would make the newer of two facts supersede the older."""
    return "".join("bcdfghjklm"[int(digit)] if digit.isdigit() else "a" for digit in number)


def main(directory: Path, seed: int) -> None:
    dice = random.Random(seed)
    with opened(directory) as memory:
        say("open")
        added: list[tuple[str, str]] = []
        number = 0
        while True:
            number += 1
            user = dice.choice(USERS)
            what = dice.random()
            if what < 0.5:
                ids = [f"{seed}.{number}.{place}" for place in range(dice.randint(1, 5))]
                messages = [
                    Message(id=i, role="user", content=f"I like the {name(i)} very much")
                    for i in ids
                ]
                memory.observe(messages, user_id=user, session_id=f"s{dice.randint(1, 3)}")
                say("observed", user, *ids)
            elif what < 0.85 or not added:
                fact = memory.add(f"Knows the {name(f'{seed}.{number}')}", user_id=user)
                say("added", user, fact.id)
                added.append((user, fact.id))
            else:
                user, fact_id = added.pop(dice.randrange(len(added)))
                say("deleting", user, fact_id)
                memory.delete(fact_id)
                say("deleted", user, fact_id)
            if dice.random() < 0.02:
                memory.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
