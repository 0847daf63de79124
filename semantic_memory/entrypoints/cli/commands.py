"""The commands: each parses, calls the facade once or twice, and shows the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ingest.readers import FORMATS, Incoming, Rejected, read
from semantic_memory.client import Client
from semantic_memory.domain.errors import InvalidInputError, ProviderError
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message, Receipt
from semantic_memory.domain.ports import Progress
from semantic_memory.entrypoints.cli import show
from semantic_memory.entrypoints.cli.opening import opened, prepared
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import load

app = typer.Typer(
    name="semantic-memory",
    help="A memory for AI agents: conversations in, the few facts that help out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _tell_version(asked: bool) -> None:
    if asked:
        show.out.print(version("semantic-memory"))
        raise typer.Exit


@app.callback()
def options(
    told: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    """A memory for AI agents: conversations in, the few facts that help out."""
    del told


DataDir = Annotated[
    Optional[Path],
    typer.Option("--data-dir", help="Where the store lies.", envvar="SEMANTIC_MEMORY_DATA_DIR"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memory.")]
Categories = Annotated[
    Optional[list[Category]], typer.Option("--category", "-c", help="Only these; repeatable.")
]
Tags = Annotated[Optional[list[str]], typer.Option("--tag", "-t", help="Repeatable.")]
Since = Annotated[Optional[datetime], typer.Option(help="Said at or after this time.")]
Until = Annotated[Optional[datetime], typer.Option(help="Said before this time.")]
MinConfidence = Annotated[float, typer.Option(help="At least this confident, 0 to 1.")]
AsOf = Annotated[Optional[datetime], typer.Option(help="What was believed at this time.")]
_BATCH = 200
_MOST_REJECTIONS = 100  # that are told one by one


def _filters(
    categories: list[Category] | None,
    tags: list[str] | None,
    since: datetime | None,
    until: datetime | None,
    min_confidence: float,
) -> dict[str, Any]:
    return {
        "categories": categories or None,
        "tags": tags or (),
        "since": since,
        "until": until,
        "min_confidence": min_confidence,
    }


@app.command()
def ingest(
    file: Annotated[
        Path, typer.Argument(help="Messages, a chat export (also its zip), notes; plain or gzip.")
    ],
    user: Annotated[
        Optional[str], typer.Option("--user", "-u", help="Whose memory, if the file doesn't say.")
    ] = None,
    session: Annotated[
        Optional[str],
        typer.Option("--session", "-s", help="Session of messages of none; default: file name."),
    ] = None,
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))] = "auto",
    batch: Annotated[
        bool, typer.Option("--batch", help="Extract at half the price, within a day.")
    ] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Take in a file of messages, extract facts, and index everything.

    Cut off and run again, it goes on where it was. Lines that can't be used are reported.
    With --batch the facts are extracted through the provider's batch API: cut off and run again, it
    waits for the batch that is under way.
    """
    if form not in FORMATS:
        raise InvalidInputError(f"unknown format {form!r}; known: {', '.join(FORMATS)}")
    session = session or _identifier(file.name.partition(".")[0])
    rejections = Rejections()
    accepted = duplicates = 0
    with (
        opened(data_dir, embeds=True, batch=batch) as memory,
        show.progress(quiet=json) as report,
    ):
        incoming = read(file, form, session, report)
        for user_id, session_id, messages in _batches(incoming, user, rejections):
            for receipt in _observe(memory, messages, user_id, session_id, rejections):
                accepted += receipt.accepted
                duplicates += receipt.duplicates
        unfinished = _finish(memory, report, batch=batch)
        stats = memory.stats()
    for place, reason in rejections.first:
        show.warn(f"{file}: {place}: {reason}")
    if rejections.number > len(rejections.first):
        show.warn(f"{file}: and {rejections.number - len(rejections.first):,} more")
    summary = {
        "accepted": accepted,
        "duplicates": duplicates,
        "rejected": rejections.number,
        "memories": stats.memories,
    }
    if json:
        show.as_json({**summary, "rejections": [item._asdict() for item in rejections.first]})
    else:
        show.pairs(summary)
    if unfinished is not None:
        raise unfinished
    if rejections.number and not accepted + duplicates:
        raise InvalidInputError(f"nothing in {file} could be used")


@app.command()
def add(
    content: Annotated[str, typer.Argument(help="The fact, as a sentence of its own.")],
    user: User,
    category: Annotated[Category, typer.Option("--category", "-c")] = Category.PERSONAL,
    confidence: Annotated[float, typer.Option(help="0 to 1.")] = 1.0,
    importance: Annotated[float, typer.Option(help="0 to 1.")] = 0.5,
    tag: Tags = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Add one fact."""
    with opened(data_dir, embeds=True) as memory:
        fact = memory.add(
            content,
            user_id=user,
            category=category,
            confidence=confidence,
            importance=importance,
            tags=tag or (),
        )
        memory.flush()
    show.as_json(fact) if json else show.facts([fact])


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, or words.")],
    user: User,
    k: Annotated[int, typer.Option("-k", help="How many.")] = 10,
    category: Categories = None,
    tag: Tags = None,
    since: Since = None,
    until: Until = None,
    min_confidence: MinConfidence = 0.0,
    as_of: AsOf = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Find the memories that help with a question, and why each ranked there."""
    filters = _filters(category, tag, since, until, min_confidence)
    with opened(data_dir, embeds=True) as memory:
        hits = memory.search(query, user_id=user, k=k, filters=filters, as_of=as_of)
    show.as_json(hits) if json else show.hits(hits)


@app.command()
def context(
    query: Annotated[str, typer.Argument(help="What the prompt is about.")],
    user: User,
    budget: Annotated[int, typer.Option("--budget", "-b", help="In tokens.")] = 2_000,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Pack what helps into a block for a prompt."""
    with opened(data_dir, embeds=True) as memory:
        packed = memory.context(query, user_id=user, budget=budget)
    if json:
        show.as_json(packed)
    else:
        show.out.print(packed.text, markup=False, highlight=False, soft_wrap=True)
        show.warn(f"{packed.tokens} of {budget} tokens, {packed.left_out} memories left out")


@app.command("list")
def list_(
    user: User,
    category: Categories = None,
    tag: Tags = None,
    since: Since = None,
    until: Until = None,
    min_confidence: MinConfidence = 0.0,
    limit: Annotated[int, typer.Option("--limit", "-n")] = 20,
    after: Annotated[Optional[str], typer.Option(help="Id of the last memory seen.")] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List a user's memories, newest first."""
    filters = _filters(category, tag, since, until, min_confidence)
    with opened(data_dir) as memory:
        found = memory.list(user_id=user, filters=filters, limit=limit, after=after)
    show.as_json(found) if json else show.facts(found)


@app.command()
def get(
    memory_id: Annotated[str, typer.Argument()], data_dir: DataDir = None, json: AsJson = False
) -> None:
    """Show one memory in full."""
    with opened(data_dir) as memory:
        fact = memory.get(memory_id)
    show.as_json(fact) if json else show.pairs(fact.model_dump(mode="json", exclude_defaults=True))


@app.command()
def history(
    memory_id: Annotated[str, typer.Argument()], data_dir: DataDir = None, json: AsJson = False
) -> None:
    """Show every state a memory has been in, a deleted one's too."""
    with opened(data_dir) as memory:
        versions = memory.history(memory_id)
    show.as_json(versions) if json else show.history(versions)


@app.command()
def delete(
    memory_id: Annotated[str, typer.Argument()],
    reason: Annotated[str, typer.Option(help="Kept with the tombstone.")] = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Take a memory out of every answer, for good."""
    with opened(data_dir) as memory:
        memory.delete(memory_id, reason=reason)
        memory.flush()
    show.as_json({"deleted": memory_id}) if json else show.out.print(f"deleted {memory_id}")


@app.command()
def stats(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Show what the store holds."""
    with opened(data_dir) as memory:
        found = memory.stats()
    if json:
        show.as_json(found)
    else:
        values = found.model_dump()
        tally = values.pop("by_category_and_status")
        show.pairs({**values, **tally})


@app.command()
def doctor(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Check everything, and say what to do about what is wrong."""
    with opened(data_dir) as memory, show.err.status("Checking"):
        findings = memory.check()
    if json:
        show.as_json(findings)
    else:
        for finding in findings:
            mark = "[green]ok  [/]" if finding.ok else "[red]FAIL[/]"
            show.out.print(f"{mark} {finding.check}: ", end="")
            show.out.print(finding.detail, markup=False, highlight=False, soft_wrap=True)
            if finding.remedy:
                show.out.print(f"     -> {finding.remedy}", markup=False, soft_wrap=True)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@app.command()
def rebuild(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Fill the vector index anew from the ledger. Embeds nothing."""
    with opened(data_dir) as memory, show.progress(quiet=json) as report:
        number = memory.rebuild(report)
    show.as_json({"indexed": number}) if json else show.out.print(f"indexed {number:,} memories")


@app.command()
def reembed(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Embed every memory anew with the model in the settings."""
    with show.progress(quiet=json) as report:
        number = SemanticMemory.reembed(data_dir, progress=report)
    show.as_json({"embedded": number}) if json else show.out.print(f"embedded {number:,} memories")


@app.command()
def prepare() -> None:
    """Compile the embedding model now, instead of at its first use."""
    settings = load()
    prepared(settings)
    show.out.print(f"ready: {settings.cache_dir}", soft_wrap=True)


def _finish(
    memory: SemanticMemory | Client, report: Progress, *, batch: bool
) -> ProviderError | None:
    """Extract and index; what was taken in is told all the same if a model can't be reached."""
    try:
        memory.flush(report)
    except ProviderError as error:
        return error
    except KeyboardInterrupt:
        if batch:
            show.warn("the batch goes on; run the same command again to take what it finds")
        raise
    return None


@dataclass
class Rejections:
    """What couldn't be used: the first of them, and how many in all."""

    first: list[Rejected] = field(default_factory=list)
    number: int = 0

    def add(self, rejected: Rejected) -> None:
        """Count one, and keep it if there aren't many yet."""
        self.number += 1
        if len(self.first) < _MOST_REJECTIONS:
            self.first.append(rejected)


def _observe(
    memory: SemanticMemory | Client,
    messages: Sequence[Message],
    user_id: str,
    session_id: str,
    rejections: Rejections,
) -> Iterator[Receipt]:
    """Take in messages of a session; one that can't be taken costs none of the others."""
    try:
        yield memory.observe(messages, user_id=user_id, session_id=session_id)
    except InvalidInputError as error:
        if len(messages) == 1:
            rejections.add(Rejected(f"message {messages[0].id}", str(error)))
        else:
            for message in messages:
                yield from _observe(memory, [message], user_id, session_id, rejections)


def _batches(
    incoming: Iterator[Incoming | Rejected], user: str | None, rejections: Rejections
) -> Iterator[tuple[str, str, list[Message]]]:
    """Runs of messages of one session; what can't be used goes to `rejections`."""

    def usable() -> Iterator[Incoming]:
        for item in incoming:
            if isinstance(item, Rejected):
                rejections.add(item)
            elif item.user_id is None and user is None:
                raise InvalidInputError("this file doesn't say whose memory it is: give --user")
            else:
                yield item

    for (user_id, session_id), run in groupby(
        usable(), key=lambda item: (user or item.user_id or "", item.session_id)
    ):
        while batch := [item.message for item in islice(run, _BATCH)]:
            yield user_id, session_id, batch


def _identifier(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.@:+-]+", "-", text).strip("-")[:128] or "import"
