"""CPU time of reading texts that are made to be slow to read.

Each text repeats a unit that some pattern begins to match, for 10 to 128 KB: words of change and of
forgetting, nouns of secrets, quotes, brackets, labels, digits, scripts, and mixtures of two units.
Each is observed, with all work behind it, and added, by users of their own; CPU time is that of the
process, embedding apart.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import typer
from rich.table import Table

from eval.processes import cpu_ms
from semantic_memory.bootstrap import Parts, build
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.messages import Message
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import HashEmbedder, InMemoryIndex

UNITS = (
    "no longer and ", "now it is ", "instead of x ", "we switched from a to b, ",
    "I moved to ", "I used to and now ", "not any more but ", "my password is ", "pass: ",
    "password=[", "pin ", "use x as my ", "the code for the door is ", "security question ",
    "from a to b ", "one two three ", "1 2 3 ", "4-4-", "forget what I said about ",
    "please delete my ", "don't remember that ", "and then she ", "he said, ", "Tom, ",
    "translate that and ", "Bob: I moved\n", "[12:30] Bob: hi\n", "> quoted\n", "`a ",
    "```\n", "([{<", "\"'“‘«", '"""', "<document>", "</a><a>", "From: a@b.example\n",
    "On Monday Bob wrote:\n", "2026-05-10 ", "May 5 ", "next Monday and ", "1234567890",
    "a@b.c ", "http://a.b/", "e\u0301\u0316", "\n", "a, ", "I and ", ". ", "Maya Oslo ",
    "Who? ", "- item\n", "我住在北京", "パスワードは", "пароль ", "a", "word ", "I live in Oslo. ",
    "x9$", "A-", "sk-", "{\"a\":",
)  # fmt: skip
NUMBER = 100
KILOBYTES = (10, 128)
_SEED = 20


class Cost(NamedTuple):
    """CPU time of a text, in milliseconds a kilobyte."""

    text: str
    """The units that it repeats."""
    kilobytes: int
    observe: float
    add: float


def texts(number: int = NUMBER) -> Iterator[tuple[str, str]]:
    """Yield texts with the units that they repeat: each unit alone first, then two at a time."""
    draw = random.Random(_SEED)
    for place in range(number):
        chosen = (UNITS[place],) if place < len(UNITS) else tuple(draw.sample(UNITS, 2))
        size = draw.randint(*KILOBYTES) * 1_024
        unit = "".join(chosen)
        repeated = f"I say {unit * (size // len(unit.encode()) + 1)}"
        yield " + ".join(chosen), repeated.encode()[:size].decode(errors="ignore")


def costs(directory: Path, number: int = NUMBER) -> Iterator[Cost]:
    """Yield the cost of each text."""
    settings = Settings(
        data_dir=directory,
        ingest=IngestSettings(background=False),
        upkeep=UpkeepSettings(schedule=False),
    )
    memory = SemanticMemory(build(settings, Parts(HashEmbedder(), index=InMemoryIndex())))
    try:
        _observe(memory, "warm", "I live in Oslo. My password is x1. Forget what I said. " * 20)
        _add(memory, "warm", "I live in Oslo")
        for place, (units, text) in enumerate(texts(number)):
            kilobytes = max(1, len(text.encode()) // 1_024)
            user = f"u{place}"
            spent = [cpu_ms(partial(call, memory, user, text)) for call in (_observe, _add)]
            yield Cost(units, kilobytes, *(one / kilobytes for one in spent))
    finally:
        memory.close()


def _observe(memory: SemanticMemory, user: str, text: str) -> None:
    memory.observe([Message(role="user", content=text)], user_id=user, session_id="s1")
    memory.flush()


def _add(memory: SemanticMemory, user: str, text: str) -> None:
    with suppress(InvalidInputError):  # with a secret, which takes as long to find
        memory.add(text, user_id=user)
    memory.flush()


def pathological(
    number: Annotated[int, typer.Option(help="Texts, the same in each run.")] = NUMBER,
    worst: Annotated[int, typer.Option(help="Texts to list, the slowest first.")] = 15,
) -> None:
    """Measure the CPU time of texts that are made to be slow to read."""
    with TemporaryDirectory(prefix="pathological-") as directory:
        found = list(costs(Path(directory), number))
    table = Table("text", "KB", "observe ms/KB", "add ms/KB", box=None)
    for one in sorted(found, key=lambda one: -max(one.observe, one.add))[:worst]:
        table.add_row(
            repr(one.text)[1:-1], str(one.kilobytes), f"{one.observe:.1f}", f"{one.add:.1f}"
        )
    show.out.print(table)
    for name in ("observe", "add"):
        spent = [getattr(one, name) for one in found]
        show.out.print(f"{name}: mean {sum(spent) / len(spent):.1f}, worst {max(spent):.1f} ms/KB")
