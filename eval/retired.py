"""Show which statements of ordinary conversations the rules retire: hardly any are over.

    python -m eval.retired locomo.json.gz --conversations 5

Each conversation is told to a store, message by message; a reader of the output judges the rows.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from eval.datasets import History
from eval.datasets.locomo import load_locomo
from semantic_memory.domain.facts import Status
from semantic_memory.memory import SemanticMemory


def told(memory: SemanticMemory, history: History) -> None:
    """Tell a conversation to a store, and wait until its facts are consolidated."""
    for session_id, run in history.runs():
        messages = [one.message for one in run]
        memory.observe(messages, user_id=history.user_id, session_id=session_id or "facts")
    memory.flush()


def retired(memory: SemanticMemory, user_id: str) -> list[tuple[str, str]]:
    """Return the superseded statements of a user, each with the one that took its place."""
    found = memory.list(user_id=user_id, status=Status.SUPERSEDED, limit=None)
    return [
        (fact.content, memory.get(fact.superseded_by, user_id=user_id).content)
        for fact in found
        if fact.superseded_by is not None
    ]


def main(
    file: Annotated[Path, typer.Argument(exists=True)],
    conversations: Annotated[int, typer.Option(min=1)] = 5,
) -> None:
    """Print every retired statement, then their number."""
    messages = number = 0
    for history in load_locomo(file).histories[:conversations]:
        with (
            TemporaryDirectory() as scratch,
            SemanticMemory.open(Path(scratch) / "store") as memory,
        ):
            told(memory, history)
            for older, newer in retired(memory, history.user_id):
                print(f"{older} | {newer}")
                number += 1
        messages += len(history.memories)
    print(f"{number} of {messages} messages and the facts extracted from them are retired")


if __name__ == "__main__":
    typer.run(main)
