"""Show facts, answers and a context block of the sample conversations: `make demo`."""

from __future__ import annotations

import os
import sys
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
NEXT = """\
  [bold]. {bin}/activate[/]
  [bold]semantic-memory ingest data/conversations/2026-01.jsonl --user maya[/]
  [bold]semantic-memory search "Where does Maya live?" --user maya[/]
  [bold]make serve[/]   the service, with a dashboard at http://127.0.0.1:8321
  [bold]make test[/]    adds what development needs (about 1 GB more), then runs every test

README.md shows the library in ten lines, and how an agent uses it."""


class May2026:
    """Clock set to a few days after the last conversation."""

    def now(self) -> datetime:
        """Return noon of 10 May 2026."""
        return datetime(2026, 5, 10, 12, tzinfo=UTC)


@contextmanager
def timed(title: str, about: str = "") -> Iterator[None]:
    """Print a heading and what it is about before the block, and the block's duration after it."""
    show.out.rule(f"[bold]{title}", align="left")
    if about:
        show.out.print(f"[dim]{about}[/]\n")
    start = time.perf_counter()
    yield
    show.out.print(f"[dim]{1_000 * (time.perf_counter() - start):.0f} ms[/]\n")


def main() -> None:
    """Go from conversations to facts, answers and a context block."""
    facts = frozenset(Category) - {Category.CONVERSATION}
    with tempfile.TemporaryDirectory(prefix="semantic-memory-demo-") as directory:
        with timed(
            "A store, and its embedding model",
            "One directory holds the store. The model runs here; nothing leaves this machine.",
        ):
            memory = SemanticMemory.open(directory, clock=May2026())
            memory.search("warm up", user_id="maya")
        with memory:
            with timed(
                "Three conversations, and the facts extracted from them",
                f"Maya and an assistant, January to May 2026, from {CONVERSATIONS.name}/. Each fact"
                " has the date when it was said, a category, and the message it came from.",
            ):
                for file in sorted(CONVERSATIONS.glob("*.jsonl")):
                    incoming = [
                        item for item in read(file, "auto", file.stem) if isinstance(item, Incoming)
                    ]
                    memory.observe(
                        [item.message for item in incoming], user_id="maya", session_id=file.stem
                    )
                with show.progress(quiet=False) as report:
                    memory.flush(report)
                for fact in reversed(memory.list(user_id="maya", filters={"categories": facts})):
                    said, (source, *_) = f"{fact.created_at:%d %b}", fact.source.message_ids
                    line = f"{said}  {fact.category:<10}  {fact.content} [dim]({source})[/]"
                    show.out.print(line, highlight=False, soft_wrap=True)
                show.out.print()
            for place, question in enumerate(QUESTIONS):
                about = (
                    "Three memories, the best first, each with its score and the parts of it."
                    if place == 0
                    else ""
                )
                with timed(question, about):
                    show.hits(memory.search(question, user_id="maya", k=3))
            with timed(
                f"A context block of at most {BUDGET} tokens for the first question",
                "An agent puts this text into its prompt.",
            ):
                block = memory.context(QUESTIONS[0], user_id="maya", budget=BUDGET)
                show.out.print(block.text, markup=False, highlight=False, soft_wrap=True)
                show.out.print(f"\n{block.tokens} tokens, {block.omitted} memories left out")
    show.out.rule("[bold]What to do next", align="left")
    show.out.print(
        NEXT.format(bin=os.path.relpath(Path(sys.executable).parent)),
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
