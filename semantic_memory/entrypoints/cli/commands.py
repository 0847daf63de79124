"""Commands on memories: each parses, calls the facade once or twice, and shows the result."""

from __future__ import annotations

import json as json_format
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.categories import Status
from semantic_memory.domain.errors import InvalidInputError, ProviderError
from semantic_memory.domain.trust import Trust
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.options import (
    CATEGORY,
    Agent,
    AsAgent,
    AsJson,
    AsOf,
    AsRun,
    Categories,
    DataDir,
    KeepSource,
    LeastConfidence,
    MemoryId,
    OfAgent,
    OfRun,
    OfUser,
    Query,
    Reason,
    Run,
    Since,
    Spaces,
    Tags,
    Until,
    User,
    Where,
    filters,
    time_of,
)

if TYPE_CHECKING:
    from semantic_memory.application.importing import Imported
    from semantic_memory.client import Client
    from semantic_memory.domain.ports import Progress
    from semantic_memory.memory import SemanticMemory

_KEPT = (
    "interrupted: everything read so far is kept. The same command continues from there; the next"
    " command on this store, or a service, extracts the facts"
)
_PROSE = {"text": ".txt", "markdown": ".md"}

_HELP = """A memory for AI agents: conversations in, the few facts that help out.

Begin with `semantic-memory demo`, or `semantic-memory try FILE` with a conversation of yours."""

app = typer.Typer(
    name="semantic-memory",
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(version("semantic-memory"))
        raise typer.Exit


@app.callback(help=_HELP)
def options(
    shown: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options of the program itself."""
    del shown


@app.command()
def ingest(
    file: Annotated[
        Path,
        typer.Argument(
            help="Messages, a chat export (also its zip), another memory's export, notes;"
            " plain or gzip."
        ),
    ],
    user: Annotated[
        Optional[str],
        typer.Option(
            "--user",
            "-u",
            envvar="SEMANTIC_MEMORY_USER",
            help="The user, if the file names none.",
        ),
    ] = None,
    session: Annotated[
        Optional[str],
        typer.Option("--session", "-s", help="Session of messages of none; default: file name."),
    ] = None,
    agent: Agent = None,
    run: Run = None,
    form: Annotated[str, typer.Option("--format", help=" | ".join(fields.FORMATS))] = "auto",
    batch: Annotated[
        bool, typer.Option("--batch", help="Extract at half the price, within a day.")
    ] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Import a file of messages or of another memory, extract facts, and index everything.

    If it is interrupted, the same command continues. Lines that can't be used are reported.
    With --batch the facts are extracted through the provider's batch API; the same command waits
    for the batch under way.
    """
    form = work.importing.known_format(form)
    show = work.show
    with (
        work.store.opened(data_dir, user=user, embeds=True, batch=batch) as memory,
        show.progress(quiet=json) as report,
    ):
        imported = _imported(
            memory,
            file,
            form=form,
            user_id=user,
            session_id=session,
            agent_id=agent,
            run_id=run,
            progress=report,
        )
        unfinished = _finish(memory, report, batch=batch)
        stats = memory.admin.stats()
    note_prose(file, form)
    for place, reason in imported.rejections:
        show.warn(f"{file}: {place}: {reason}")
    if more := imported.rejected - len(imported.rejections):
        show.warn(f"{file}: and {more:,} more")
    summary = {
        "accepted": imported.accepted,
        "duplicates": imported.duplicates,
        "rejected": imported.rejected,
        "dated ahead": imported.ahead,
        "memories": stats.memories,
    }
    if json:
        show.as_json({**summary, "rejections": [item._asdict() for item in imported.rejections]})
    else:
        shown = {name: count for name, count in summary.items() if count or name == "accepted"}
        show.pairs(shown)
    if unfinished is not None:
        raise unfinished
    if imported.rejected and imported.is_empty:
        raise InvalidInputError(f"nothing in {file} could be used")


@app.command()
def add(
    content: Annotated[str, typer.Argument(help=fields.CONTENT)],
    user: User,
    category: Annotated[
        str, typer.Option("--category", "-c", metavar=CATEGORY, help=fields.CATEGORY)
    ] = fields.DEFAULT_CATEGORY.value,
    confidence: Annotated[
        float, typer.Option(help=fields.CONFIDENCE.description)
    ] = fields.CONFIDENCE.default,
    importance: Annotated[
        float, typer.Option(help=fields.IMPORTANCE.description)
    ] = fields.IMPORTANCE.default,
    tag: Annotated[Optional[list[str]], typer.Option("--tag", "-t", help=fields.OWN_TAGS)] = None,
    expires_at: Annotated[
        Optional[datetime], typer.Option(help=fields.EXPIRES_AT, parser=time_of)
    ] = None,
    body: Annotated[Optional[str], typer.Option(help=f"{fields.BODY} As JSON.")] = None,
    trust: Annotated[Trust, typer.Option(help=fields.TRUST)] = Trust.USER,
    agent: Agent = None,
    run: Run = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Add one fact."""
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        fact = memory.add(
            content,
            user_id=user,
            agent_id=agent,
            run_id=run,
            category=category,
            confidence=confidence,
            importance=importance,
            tags=tag or (),
            expires_at=expires_at,
            body=None if body is None else _object(body),
            trust=trust,
        )
        memory.flush()
    work.show.as_json(fact) if json else work.show.facts([fact])


@app.command()
def search(
    query: Query,
    user: User,
    k: Annotated[int, typer.Option("-k", help=fields.HITS.description)] = fields.HITS.default,
    agent: AsAgent = None,
    run: AsRun = None,
    space: Spaces = None,
    where: Where = "",
    category: Categories = None,
    tag: Tags = None,
    since: Since = None,
    until: Until = None,
    min_confidence: LeastConfidence = fields.LEAST_CONFIDENCE.default,
    as_of: AsOf = None,
    min_score: Annotated[
        float, typer.Option(help=fields.LEAST_SCORE.description)
    ] = fields.LEAST_SCORE.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Find the memories that help with a question, with the parts of each score."""
    narrowed = filters(where, category, tag, since, until, min_confidence)
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        hits = memory.search(
            query,
            user_id=user,
            agent_id=agent,
            run_id=run,
            spaces=space or (),
            k=k,
            filters=narrowed,
            as_of=as_of,
            min_score=min_score,
        )
    work.show.as_json(hits) if json else work.show.hits(hits)


@app.command()
def context(
    query: Query,
    user: User,
    budget: Annotated[
        int, typer.Option("--budget", "-b", help=fields.BUDGET.description)
    ] = fields.BUDGET.default,
    agent: AsAgent = None,
    run: AsRun = None,
    space: Spaces = None,
    memory_files: Annotated[bool, typer.Option("--memory-files", help=fields.MEMORY_FILES)] = False,
    min_trust: Annotated[Optional[Trust], typer.Option(help=fields.LEAST_TRUST)] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Pack the memories that help with a question into a block for a prompt."""
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        packed = memory.context(
            query,
            user_id=user,
            agent_id=agent,
            run_id=run,
            spaces=space or (),
            budget=budget,
            memory_files=memory_files,
            min_trust=min_trust,
        )
    show = work.show
    if json:
        show.as_json(packed)
    else:
        show.out.print(packed.text, markup=False, highlight=False, soft_wrap=True)
        show.warn(f"{packed.tokens} of {budget} tokens, {packed.omitted} memories left out")


@app.command("list")
def list_(
    user: User,
    agent: OfAgent = None,
    run: OfRun = None,
    where: Where = "",
    category: Categories = None,
    tag: Tags = None,
    since: Since = None,
    until: Until = None,
    min_confidence: LeastConfidence = fields.LEAST_CONFIDENCE.default,
    limit: Annotated[
        int, typer.Option("--limit", "-n", help=fields.PAGE.description)
    ] = fields.SHORT_PAGE,
    after: Annotated[Optional[str], typer.Option(help=fields.AFTER)] = None,
    status: Annotated[Optional[Status], typer.Option(help=fields.STATUS)] = None,
    sort: Annotated[fields.Sort, typer.Option(help=fields.SORT)] = "time",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List a user's memories, newest first: facts, then messages; --where can sort them."""
    narrowed = filters(where, category, tag, since, until, min_confidence)
    with work.store.opened(data_dir, user=user) as memory:
        if after is not None and not after.startswith(fields.CURSOR_MARK):
            after = work.ids.completed(memory, after, user)
        found, following = work.listing.page(
            memory,
            narrowed,
            user_id=user,
            agent_id=agent,
            run_id=run,
            status=status,
            limit=limit,
            after=after,
            sort=sort,
        )
    if json:
        work.show.as_json(found)
    elif status is Status.FORGOTTEN:
        work.show.tombstones(found)
    else:
        work.show.facts(found)
    if following is not None:
        work.show.warn(f"for the next page: --after {work.ids.shortened([following])[following]}")


@app.command()
def get(
    memory_id: MemoryId, user: OfUser = None, data_dir: DataDir = None, json: AsJson = False
) -> None:
    """Show one memory in full."""
    with work.store.opened(data_dir, user=user) as memory:
        fact = memory.get(work.ids.completed(memory, memory_id, user), user_id=user)
    if json:
        work.show.as_json(fact)
    else:
        work.show.pairs(fact.model_dump(mode="json", exclude_defaults=True))


@app.command()
def delete(
    memory_id: MemoryId,
    user: OfUser = None,
    keep_source: KeepSource = False,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Delete a memory permanently, with what it was drawn from or what rests on it."""
    with work.store.opened(data_dir, user=user) as memory:
        memory_id = work.ids.completed(memory, memory_id, user)
        memory.delete(memory_id, user_id=user, keep_source=keep_source, reason=reason)
        memory.flush()
    if json:
        work.show.as_json({"deleted": memory_id})
    else:
        work.show.out.print(f"deleted {memory_id}", highlight=False)


@app.command()
def forget(
    user: User,
    entity: Annotated[
        Optional[str], typer.Option("--entity", "-e", help=fields.FORGET_ENTITY)
    ] = None,
    query: Annotated[Optional[str], typer.Option("--query", "-q", help=fields.FORGET_QUERY)] = None,
    tag: Annotated[Optional[str], typer.Option("--tag", "-t", help=fields.FORGET_TAG)] = None,
    since: Annotated[
        Optional[datetime], typer.Option(help=fields.FORGET_SINCE, parser=time_of)
    ] = None,
    until: Annotated[
        Optional[datetime], typer.Option(help=fields.FORGET_UNTIL, parser=time_of)
    ] = None,
    session: Annotated[
        Optional[str], typer.Option("--session", "-s", help=fields.FORGET_SESSION)
    ] = None,
    agent: OfAgent = None,
    run: OfRun = None,
    source: Annotated[Optional[str], typer.Option(help=fields.FORGET_SOURCE)] = None,
    where: Where = "",
    everything: Annotated[bool, typer.Option(help=fields.EVERYTHING)] = False,
    keep_source: KeepSource = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help=fields.WITHDRAW)] = False,
    proof: Annotated[bool, typer.Option("--proof", help=fields.PROOF)] = False,
    now: Annotated[bool, typer.Option("--now", help=fields.NOW)] = False,
    force: Annotated[bool, typer.Option("--force", help=fields.FORCE)] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help=fields.CONFIRM)] = False,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show what forgetting a subject, a time, a session or a user would delete; --yes does it."""
    dry_run = not yes
    given: dict[str, Any] = {
        "user_id": user,
        "entity": entity,
        "query": query,
        "tag": tag,
        "since": since,
        "until": until,
        "session_id": session,
        "agent_id": agent,
        "run_id": run,
        "source": source,
        "filters": where or None,
        "everything": everything,
        "keep_source": keep_source,
        "withdraw": withdraw,
        "dry_run": dry_run,
        "proof": proof and yes,
        "now": now and yes,
        "force": force,
        "reason": reason,
    }
    work.requests.ForgetRequest.parsed(**given)
    with work.store.opened(data_dir, user=user) as memory:
        number = memory.forget(**given)
        if not dry_run:
            memory.flush()
    if json:
        shown: dict[str, Any] = {"memories": number.memories} if dry_run else {}
        if number.proof is not None:
            shown["proof"] = number.proof
        if number.warning:
            shown["warning"] = number.warning
        counts = {"forgotten": int(number), "items": number.items, "kept_in": number.kept_in}
        work.show.as_json({**counts, **shown, "sentences": list(number.sentences)})
        return
    if dry_run:
        work.show.would_forget(number)
        done = "withdraw" if withdraw else "forget"
        how = "until `history restore`" if withdraw else "permanently"
        items = f" and {number.items:,} items" if number.items else ""
        work.show.out.print(f"would {done} {number:,} memories{items}")
        work.show.warn(f"nothing was done: add --yes to {done} them {how}")
        return
    if withdraw:
        work.show.out.print(f"withdrew {number:,} memories; `history restore` brings one back")
        return
    items = f" and {number.items:,} items" if number.items else ""
    work.show.out.print(f"forgot {number:,} memories{items}")
    work.show.kept_in(number.kept_in)
    if number.proof is not None:
        work.show.proof(number.proof)
    elif number and not now:
        work.show.warn(
            "the weekly compaction erases their texts from the disk;"
            " `semantic-memory jobs run compact` does it now"
        )


def note_prose(file: Path, form: str) -> None:
    """Say of a file of prose that it wasn't read as a conversation."""
    if form in _PROSE or (form == "auto" and file.suffix.lower() in _PROSE.values()):
        work.show.warn(
            f"{file} was read as notes, not as a conversation. A conversation has one JSON object a"
            ' line, like {"role": "user", "content": "..."}'
        )


def _object(text: str) -> dict[str, Any]:
    """Read a JSON object. Raises InvalidInputError."""
    try:
        found = json_format.loads(text)
    except json_format.JSONDecodeError as error:
        raise InvalidInputError(f"--body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidInputError('--body must be a JSON object, like {"kind": "reference", ...}')
    return found


def _imported(memory: SemanticMemory | Client, file: Path, **given: Any) -> Imported:
    """Import a file; say what is kept if it is interrupted."""
    try:
        return work.importing.import_file(memory, file, **given)
    except KeyboardInterrupt:
        work.show.warn(_KEPT)
        raise


def _finish(
    memory: SemanticMemory | Client, report: Progress, *, batch: bool
) -> ProviderError | None:
    """Extract and index; return the error if a model can't be reached, to be raised at the end."""
    try:
        memory.flush(report)
    except ProviderError as error:
        return error
    except KeyboardInterrupt:
        if batch:
            work.show.warn(
                "the batch continues at the provider; the same command collects its facts later"
            )
        else:
            work.show.warn(_KEPT)
        raise
    return None
