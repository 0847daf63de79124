"""Show facts, answers and a context block of the sample conversations: python examples/demo.py."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ingest.readers import Incoming, read
from semantic_memory import Category, SemanticMemory
from semantic_memory.entrypoints.cli import show

CONVERSATIONS = Path(__file__).parent.parent / "data" / "conversations"
QUESTIONS = (
    "Where does Maya live now?",
    "Which compaction strategy did we choose, and why was it changed?",
    "How does Maya like her answers and slides?",
)
BUDGET = 300


class May2026:
    """Clock set to a few days after the last conversation."""

    def now(self) -> datetime:
        """Return noon of 10 May 2026."""
        return datetime(2026, 5, 10, 12, tzinfo=UTC)


@contextmanager
def timed(title: str) -> Iterator[None]:
    """Print a heading before the block, and its duration after it."""
    show.out.rule(f"[bold]{title}", align="left")
    start = time.perf_counter()
    yield
    show.out.print(f"[dim]{1_000 * (time.perf_counter() - start):.0f} ms[/]\n")


def main() -> None:
    """Go from conversations to facts, answers and a context block."""
    facts = frozenset(Category) - {Category.CONVERSATION}
    with tempfile.TemporaryDirectory(prefix="semantic-memory-demo-") as directory:
        with timed("Open a store and load the embedding model"):
            memory = SemanticMemory.open(directory, clock=May2026())
            memory.search("warm up", user_id="maya")
        with memory:
            with timed("Observe three conversations and extract facts"):
                for file in sorted(CONVERSATIONS.glob("*.jsonl")):
                    incoming = [
                        item for item in read(file, "auto", file.stem) if isinstance(item, Incoming)
                    ]
                    memory.observe(
                        [item.message for item in incoming], user_id="maya", session_id=file.stem
                    )
                with show.progress(quiet=False) as report:
                    memory.flush(report)
                extracted = memory.list(user_id="maya", filters={"categories": facts})
                show.sourced(reversed(extracted))
            for question in QUESTIONS:
                with timed(question):
                    show.hits(memory.search(question, user_id="maya", k=3))
            with timed(f"A context block of at most {BUDGET} tokens for the first question"):
                block = memory.context(QUESTIONS[0], user_id="maya", budget=BUDGET)
                show.out.print(block.text, markup=False, highlight=False, soft_wrap=True)
                show.out.print(f"\n{block.tokens} tokens, {block.left_out} memories left out")


if __name__ == "__main__":
    main()
