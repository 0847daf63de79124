"""Show which lines of blocks are marked as perhaps changed: in ordinary talk hardly any has.

    python -m eval.marked locomo.json.gz --conversations 2

Each conversation is told to a store, message by message; a block is packed for each question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from eval.datasets import History
from eval.datasets.locomo import load_locomo
from eval.retired import told
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock

BUDGET = 1_000
"""Tokens of a block."""
_MARK = "(perhaps until"
_LINE = re.compile(r"^\d+ .*$", re.MULTILINE)


def blocks(history: History) -> Iterator[list[str]]:
    """Yield the lines of the block for each question, asked the day after the conversation."""
    clock = FrozenClock(max(one.said_at for one in history.memories) + timedelta(days=1))
    with (
        TemporaryDirectory() as scratch,
        SemanticMemory.open(Path(scratch) / "store", clock=clock) as memory,
    ):
        told(memory, history)
        for question in history.questions:
            packed = memory.context(question.text, user_id=history.user_id, budget=BUDGET)
            yield _LINE.findall(packed.text)


def main(
    file: Annotated[Path, typer.Argument(exists=True)],
    conversations: Annotated[int, typer.Option(min=1)] = 2,
) -> None:
    """Print every marked line once, then the shares of lines and of blocks with a mark."""
    found = [
        block
        for history in load_locomo(file).histories[:conversations]
        for block in blocks(history)
    ]
    lines = [line for block in found for line in block]
    marked = [line for line in lines if _MARK in line]
    for line in sorted({line.partition(" ")[2] for line in marked}):
        print(line)
    with_marks = sum(any(_MARK in line for line in block) for block in found)
    print(
        f"{len(marked)} of {len(lines)} lines ({len(marked) / len(lines):.1%}) are marked,", end=""
    )
    print(f" in {with_marks} of {len(found)} blocks")


if __name__ == "__main__":
    typer.run(main)
