"""Interrupt a task in the middle, and resume it exactly there in another process.

python examples/resumed_task.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import BaseModel

from semantic_memory import SemanticMemory

DOCUMENTS = tuple(f"report-{number}.txt" for number in range(1, 6))


class Indexing(BaseModel):
    """State of the task."""

    step: int = 0
    processed: tuple[str, ...] = ()


class PowerCutError(Exception):
    """The task was interrupted."""


def work(directory: Path, *, cut_after: int | None = None) -> None:
    """Process the documents from where the checkpoint says; stop after `cut_after` of them."""
    with (
        SemanticMemory.open(directory) as memory,
        memory.sessions.open(user_id="agent", session_id="indexing") as session,
    ):
        checkpoint = session.checkpoint("task", Indexing)
        state = checkpoint.load() or Indexing()
        print(f"starts at step {state.step}")
        for document in DOCUMENTS[state.step :]:
            session.push({"role": "assistant", "content": f"Indexed {document}."})
            state = Indexing(step=state.step + 1, processed=(*state.processed, document))
            checkpoint.save(state)
            print(f"  {document}")
            if state.step == cut_after:
                raise PowerCutError
        print(f"done: {len(state.processed)} documents, each once")


def run(directory: Path) -> None:
    """Interrupt the task, then resume it."""
    try:
        work(directory, cut_after=2)
    except PowerCutError:
        print("interrupted")
    work(directory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="semantic-memory-") as scratch:
        run(Path(scratch))
