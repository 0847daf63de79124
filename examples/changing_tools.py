"""Follow a user who moves from Python to Rust: the present, the past, and the history.

python examples/changing_tools.py
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from semantic_memory import Message, SemanticMemory

TOLD = (
    ("spring", datetime(2026, 3, 2, 10, tzinfo=UTC), "I use Python for all my services."),
    ("spring", datetime(2026, 3, 2, 10, 5, tzinfo=UTC), "My team has four people."),
    ("autumn", datetime(2026, 9, 14, 9, tzinfo=UTC), "I use Rust for all my services now."),
)
QUESTION = "Which programming language do I use?"
BEFORE = datetime(2026, 6, 1, tzinfo=UTC)


def run(directory: Path) -> None:
    """Tell the change, then ask for the present and the past."""
    with SemanticMemory.open(directory) as memory:
        for session_id, at, text in TOLD:
            message = Message(role="user", content=text, created_at=at)
            memory.observe([message], user_id="dev", session_id=session_id)
            memory.flush()
        now = memory.search(QUESTION, user_id="dev", k=3)
        print("now:   ", now[0].fact.content)
        then = memory.search(QUESTION, user_id="dev", k=3, as_of=BEFORE)
        print("before:", then[0].fact.content)
        retired = memory.list(user_id="dev", filters={"categories": ["technical", "preference"]})
        for fact in memory.list(user_id="dev", status="superseded"):
            print("retired:", fact.content, "until", f"{fact.valid_to:%B %Y}")
        print("standing:", "; ".join(fact.content for fact in retired))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="semantic-memory-") as scratch:
        run(Path(scratch))
