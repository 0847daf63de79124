"""Commands that show the memory without keeping one: demo, try."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app, note_prose

if TYPE_CHECKING:
    from semantic_memory.domain.ports import Clock
    from semantic_memory.memory import SemanticMemory

SAMPLE = Path(__file__).parent / "samples" / "noor.jsonl"
_NOOR = "noor"
_QUESTIONS = ("What is Noor allergic to?", "Where did Noor move to?")
_SHOWN = 3
_BUDGET = 250
_NEXT = """\
  semantic-memory try FILE      ask about a conversation of yours, keeping nothing
  semantic-memory ingest FILE --user NAME
  semantic-memory search "a question" --user NAME
  semantic-memory serve         a service, with a dashboard"""


class _AfterTheSample:
    """Clock set to two days after the last message of the sample."""

    def now(self) -> datetime:
        return datetime(2026, 7, 10, 12, tzinfo=UTC)


@app.command()
def demo() -> None:
    """Show on a small conversation what is extracted, found, changed and packed. Keeps nothing."""
    show = work.show
    with _temporary(_AfterTheSample()) as memory:
        show.heading("Noor talks to an assistant, in March and in July")
        said = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
        memory.observe(said, user_id=_NOOR)
        for session_id in dict.fromkeys(message["session_id"] for message in said):
            show.messages(memory.sessions.messages(user_id=_NOOR, session_id=session_id))
        show.heading("The facts of it, each with the day it was said")
        with show.waiting("extracting facts"):
            memory.flush()
        show.facts(memory.list(user_id=_NOOR, filters="-category:conversation"))
        show.heading("A change: what July said ended what March had said")
        show.retirements(memory.history.retired(user_id=_NOOR))
        for question in _QUESTIONS:
            show.heading(f"Search: {question}")
            show.hits(memory.search(question, user_id=_NOOR, k=2))
        show.heading(f"The block that an agent puts into its prompt, at most {_BUDGET} tokens")
        block = memory.context(_QUESTIONS[0], user_id=_NOOR, budget=_BUDGET)
        show.out.print(block.text, markup=False, highlight=False, soft_wrap=True)
    show.heading("Next")
    show.out.print(_NEXT, markup=False, highlight=False, soft_wrap=True)


@app.command("try")
def try_(
    file: Annotated[Path, typer.Argument(help="Anything that `ingest` reads.")],
    ask: Annotated[
        Optional[list[str]],
        typer.Option("--ask", "-a", help="Answer this and end, without a prompt; repeatable."),
    ] = None,
    user: Annotated[
        str, typer.Option("--user", "-u", help="The user, if the file names none.")
    ] = "me",
    form: Annotated[str, typer.Option("--format", help=" | ".join(fields.FORMATS))] = "auto",
) -> None:
    """Read a file into a temporary store and answer questions about it. Keeps nothing."""
    form = work.importing.known_format(form)
    show = work.show
    with _temporary() as memory:
        with show.progress(quiet=False) as report:
            read = work.importing.import_file(
                memory, file, form=form, user_id=user, progress=report
            )
            memory.flush(report)
        if read.is_empty:
            for place, reason in read.rejections:
                show.warn(f"{file}: {place}: {reason}")
            raise InvalidInputError(f"nothing in {file} could be used")
        users = memory.admin.users()
        facts = memory.admin.stats().memories - read.accepted
        note_prose(file, form)
        show.warn(f"read {read.accepted:,} messages or records, found {max(0, facts):,} facts")
        if user not in users:  # the file names its own
            user = users[0]
            others = f"; others: {', '.join(users[1:])}" if users[1:] else ""
            show.warn(f"asking as {user!r}, whom the file names{others}")
        for question in ask or _typed():
            show.hits(memory.search(question, user_id=user, k=_SHOWN))


def _typed() -> Iterator[str]:
    """Yield the questions that are typed, or piped in, until the input ends."""
    if sys.stdin.isatty():
        work.show.warn("ask, and press Enter; an empty line ends")
    while True:
        try:
            question = input("? " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        if not question:
            return
        yield question


@contextmanager
def _temporary(clock: Clock | None = None) -> Iterator[SemanticMemory]:
    """Open a store that is removed at the end, also when the process gets SIGTERM."""
    from semantic_memory.memory import SemanticMemory

    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="semantic-memory-") as directory:
            with work.show.waiting("opening a temporary store"):
                memory = SemanticMemory.open(directory, clock=clock)
            with memory:
                yield memory
    finally:
        signal.signal(signal.SIGTERM, before)
