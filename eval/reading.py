"""Draw facts that are extracted from conversations without a model, to be read by hand.

    python -m eval.reading --set longmemeval-dialogue --data FILE [--count 100] [--seed 41]

Prints each fact with the message that it came from. They are graded by their reader:

    useful          true, stands alone, and worth knowing a month later
    small talk      true and stands alone, but says nothing that lasts
    broken          can't be understood without the conversation, or says something else
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eval.datasets.load import load, named
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory.domain.messages import Message

_SHOWN = 400
"""Characters shown of a message."""


class Drawn(NamedTuple):
    """A fact with the message that it came from."""

    fact: str
    said: str


def facts(sessions: Sequence[Sequence[Message]]) -> Iterator[Drawn]:
    """Yield every fact of some sessions that passes the gate."""
    extractor, gate = OfflineExtractor(), Gate()
    for messages in sessions:
        said = {message.id: message.content for message in messages}
        for candidate in gate.admit(extractor.extract(messages).candidates, messages).admitted:
            yield Drawn(candidate.content, said[candidate.message_ids[0]])


def main(
    data: Annotated[Path, typer.Option(exists=True)],
    name: Annotated[str, typer.Option("--set", help="Data set.")] = "longmemeval-dialogue",
    count: Annotated[int, typer.Option(help="Facts to draw.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 41,
    sessions: Annotated[int, typer.Option(help="Sessions from which they are drawn.")] = 60,
) -> None:
    """Print facts drawn from sessions of a data set, each with its message."""
    draw = random.Random(seed)
    runs = {
        tuple(memory.message.content for memory in run): [memory.message for memory in run]
        for history in load(named(name), data).histories
        for _, run in history.runs()
    }  # a session may be in several histories
    chosen = draw.sample([*runs.values()], min(sessions, len(runs)))
    found = [*facts(chosen)]
    for one in draw.sample(found, min(count, len(found))):
        print(f"<< {' '.join(one.said.split())[:_SHOWN]}\n   {one.fact}\n")


if __name__ == "__main__":
    typer.run(main)
