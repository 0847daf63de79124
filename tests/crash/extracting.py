"""Observe a conversation with extraction by a model, until killed.

python -m tests.crash.extracting DIRECTORY URL TURNS
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from semantic_memory import Message, SemanticMemory
from semantic_memory.settings import (
    ExtractionSettings,
    IngestSettings,
    Settings,
)
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.crash.program import DIMENSION, name
from tests.support.chat_models import endpoint

SESSIONS = 12
START = datetime(2026, 1, 1, tzinfo=UTC)


def conversation(turns: int) -> list[tuple[str, Message]]:
    """Return every message with its session, in order."""
    return [
        (
            f"s{session}",
            Message(
                id=f"m{turn}",
                role="assistant" if turn % 5 == 4 else "user",
                content=f"I like the {name(f'{session}.{turn}')} very much",
                created_at=START + timedelta(hours=session, minutes=turn),
            ),
        )
        for turn in range(turns)
        for session in range(SESSIONS)
    ]


def main(directory: Path, url: str, turns: int) -> None:
    settings = Settings(
        llm=endpoint(url, max_retries=0),
        extraction=ExtractionSettings(llm="test"),
        ingest=IngestSettings(quiet_seconds=0.05, most_messages=4),
    )
    with SemanticMemory.open(
        directory, settings=settings, embedder=HashEmbedder(DIMENSION), index=InMemoryIndex()
    ) as memory:
        for session, message in conversation(turns):
            memory.observe([message], user_id="u1", session_id=session)
        memory.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
