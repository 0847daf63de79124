"""Ask for figures of an annual report that were told in several sessions.

python examples/annual_report.py
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from semantic_memory import Message, SemanticMemory

SESSIONS = {
    "kick-off": (
        datetime(2026, 1, 12, 9, tzinfo=UTC),
        (
            "Northwind's revenue in 2025 was 48.2 million euros.",
            "We close the books on 30 January.",
        ),
    ),
    "margins": (
        datetime(2026, 1, 20, 14, tzinfo=UTC),
        (
            "Northwind's gross margin in 2025 was 37 percent.",
            "The canteen has a new menu, by the way.",
        ),
    ),
    "staff": (
        datetime(2026, 2, 3, 11, tzinfo=UTC),
        (
            "Northwind had 412 employees at the end of 2025.",
            "Northwind's revenue in 2024 was 44.9 million euros.",
        ),
    ),
}
QUESTIONS = {
    "What was Northwind's revenue in 2025?": "48.2 million",
    "What was the revenue in 2024?": "44.9 million",
    "How high was the gross margin?": "37 percent",
    "How many employees did Northwind have?": "412",
}


def run(directory: Path) -> None:
    """Tell the figures over three sessions, then ask for each."""
    with SemanticMemory.open(directory) as memory:
        for session_id, (at, texts) in SESSIONS.items():
            messages = [Message(role="user", content=text, created_at=at) for text in texts]
            memory.observe(messages, user_id="analyst", session_id=session_id)
        memory.flush()
        for question, figure in QUESTIONS.items():
            best = memory.search(question, user_id="analyst", k=1)[0].fact
            print(f"{question}\n  {best.content}  [{best.source.session_id}]")
            print(f"  as expected: {'yes' if figure in best.content else 'no'}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="semantic-memory-") as scratch:
        run(Path(scratch))
