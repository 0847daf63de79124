"""Draw questions over conversations and print their blocks, to be read and graded by hand.

    python -m eval blocks --locomo FILE --realtalk FILE [--count 40] [--budget 1000] [--seed 35]

Each conversation is told to a store, as `run` does. A block of every section is read line by line:
a line of the core that names no lasting state of the user, a line of the instructions that is no
standing order, and a line that says something else than was said, mislead.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import typer

from eval.datasets import History, Question
from eval.datasets.load import load, named
from eval.systems.ours import Ours
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.ports import Progress
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import load as load_settings


class Drawn(NamedTuple):
    """A question, its answer and the block for it."""

    user_id: str
    question: Question
    block: str


def drawn(
    histories: Sequence[History], count: int, budget: int, seed: int, progress: Progress
) -> Iterator[Drawn]:
    """Tell conversations to a store; yield `count` questions with their blocks."""
    asked = [(history, question) for history in histories for question in history.questions]
    chosen = random.Random(seed).sample(asked, min(count, len(asked)))
    needed = {history.user_id: history for history, _ in chosen}
    with TemporaryDirectory(prefix="semantic-memory-blocks-") as scratch:
        store = Ours(Path(scratch, "store"), make_embedder(load_settings()))
        try:
            store.take_in(list(needed.values()), progress)
            for history, question in chosen:
                block = store.block(history.user_id, question.text, budget, question.asked_at)
                yield Drawn(history.user_id, question, block)
        finally:
            store.close()


def blocks(
    locomo: Annotated[Path | None, typer.Option(help="A LoCoMo file.")] = None,
    realtalk: Annotated[Path | None, typer.Option(help="A RealTalk file.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Questions to draw.")] = 40,
    budget: Annotated[int, typer.Option(min=1, help="Tokens of a block.")] = 1_000,
    conversations: Annotated[
        int | None, typer.Option(min=1, help="Conversations of each file [all].")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 35,
) -> None:
    """Print context blocks for questions about public conversations, for reading."""
    given = {"locomo": locomo, "realtalk": realtalk}
    files = {name: path for name, path in given.items() if path is not None}
    if not files:
        raise InvalidInputError("give a file of conversations with --locomo or --realtalk")
    histories = [
        history
        for name, path in files.items()
        for history in load(named(name), path).histories[:conversations]
    ]
    with show.progress(quiet=False) as report:
        found = list(drawn(histories, count, budget, seed, report))
    for number, one in enumerate(found, start=1):
        print(f"\n===== {number}. {one.user_id}: {one.question.text}")
        print(f"===== answer: {one.question.answer or '(none)'}")
        print(one.block or "(empty)")
