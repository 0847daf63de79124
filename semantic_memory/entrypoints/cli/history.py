"""Commands of `memory.history`: versions of memories, and the review of changes."""

from __future__ import annotations

import json as json_format
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import (
    BEGINNING,
    AsJson,
    DataDir,
    MemoryId,
    OfUser,
    Reason,
    User,
    day_of,
    time_of,
)

history = typer.Typer(no_args_is_help=True, help="Versions of memories, and the review of changes.")
app.add_typer(history, name="history")

Most = Annotated[int, typer.Option("--limit", "-n", help=fields.PAGE.description)]
WithMemory = Annotated[
    Optional[str], typer.Option("--memory", help=f"{fields.WITH_MEMORY} {BEGINNING}")
]
Decision = Annotated[Optional[str], typer.Argument(help=f"{fields.UNDO_DECISION} {BEGINNING}")]
Older = Annotated[str, typer.Argument(help=f"{fields.LINK_OLDER} {BEGINNING}")]
Newer = Annotated[str, typer.Argument(help=f"{fields.LINK_NEWER} {BEGINNING}")]


@history.command("versions")
def versions(
    memory_id: MemoryId, user: OfUser = None, data_dir: DataDir = None, json: AsJson = False
) -> None:
    """Show the states of a memory, oldest first, also of a deleted one."""
    with work.store.opened(data_dir, user=user) as memory:
        memory_id = work.ids.completed(memory, memory_id, user)
        versions = memory.history.versions(memory_id, user_id=user)
    work.show.as_json(versions) if json else work.show.history(versions)


@history.command("restore")
def restore(
    memory_id: MemoryId,
    user: OfUser = None,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Restore a memory that was superseded, archived or quarantined."""
    with work.store.opened(data_dir, user=user) as memory:
        memory_id = work.ids.completed(memory, memory_id, user)
        fact = memory.history.restore(memory_id, user_id=user, reason=reason)
    work.show.as_json(fact) if json else work.show.facts([fact])


@history.command("audit")
def audit(
    user: User,
    memory: WithMemory = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", help=fields.RECORDS.description)
    ] = fields.RECORDS.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List which memories entered a user's prompts, when and why, the latest block first."""
    with work.store.opened(data_dir, user=user) as opened:
        if memory is not None:
            memory = work.ids.completed(opened, memory, user)
        found = opened.history.audit(user_id=user, memory_id=memory, limit=limit)
    work.show.as_json(found) if json else work.show.audit(found)


@history.command("retired")
def retired(
    user: User,
    since: Annotated[
        Optional[datetime], typer.Option(help=fields.RETIRED_SINCE, parser=time_of)
    ] = None,
    until: Annotated[
        Optional[datetime], typer.Option(help=fields.RETIRED_UNTIL, parser=time_of)
    ] = None,
    limit: Most = fields.PAGE.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List the facts that newer statements ended, each with the reason, the latest first."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.history.retired(user_id=user, since=since, until=until, limit=limit)
    work.show.as_json(found) if json else work.show.retirements(found)


@history.command("undo")
def undo(
    user: User,
    decision: Decision = None,
    source: Annotated[Optional[str], typer.Option(help=fields.UNDO_SOURCE)] = None,
    day: Annotated[Optional[date], typer.Option(help=fields.UNDO_DAY, parser=day_of)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=fields.UNDO_DRY_RUN)] = False,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Restore the facts that one decision, one source or one day ended; they stay apart."""
    given: dict[str, Any] = {
        "user_id": user,
        "decision": decision,
        "source": source,
        "day": day,
        "dry_run": dry_run,
        "reason": reason,
    }
    work.requests.UndoRequest.parsed(**given)
    with work.store.opened(data_dir, user=user) as memory:
        if decision is not None:
            given["decision"] = work.ids.completed(memory, decision, user)
        found = memory.history.undo(**given)
        if not dry_run:
            memory.flush()
    if json:
        work.show.as_json(found)
        return
    work.show.facts(found)
    work.show.out.print(f"{'would restore' if dry_run else 'restored'} {len(found):,} memories")


@history.command("to-confirm")
def to_confirm(
    user: User,
    limit: Most = fields.PAGE.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List the facts that a newer statement perhaps changed, then preferences of long ago."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.history.to_confirm(user_id=user, limit=limit)
    work.show.as_json(found) if json else work.show.to_confirm(found)


@history.command("accept")
def accept(
    older: Older,
    newer: Newer,
    user: User,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Accept that a newer memory changed an older one, which ends the older."""
    with work.store.opened(data_dir, user=user) as memory:
        pair = [work.ids.completed(memory, one, user) for one in (older, newer)]
        fact = memory.history.accept(*pair, user_id=user, reason=reason)
    work.show.as_json(fact) if json else work.show.facts([fact])


@history.command("reject")
def reject(
    older: Older,
    newer: Newer,
    user: User,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Reject that a newer memory changed an older one; the two are kept apart permanently."""
    with work.store.opened(data_dir, user=user) as memory:
        pair = [work.ids.completed(memory, one, user) for one in (older, newer)]
        fact = memory.history.reject(*pair, user_id=user, reason=reason)
    work.show.as_json(fact) if json else work.show.facts([fact])


@history.command("labels")
def labels(
    user: User,
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="A file to write.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write what was accepted, rejected and restored as JSON lines, to train a judge with."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.history.labels(user_id=user)
    rows = [json_format.dumps(one.model_dump(), ensure_ascii=False) + "\n" for one in found]
    if out is None:
        typer.echo("".join(rows), nl=False)
        return
    with work.private_files.create_private(out).open("w", encoding="utf-8") as file:
        file.writelines(rows)


@history.command("requests")
def requests(user: User, data_dir: DataDir = None, json: AsJson = False) -> None:
    """List a user's requests to forget, said in conversations, the latest first."""
    with work.store.opened(data_dir, user=user) as memory:
        found = memory.history.requests(user_id=user)
    work.show.as_json(found) if json else work.show.requests(found)


@history.command("settle")
def settle(
    request_id: Annotated[str, typer.Argument(help=f"{fields.REQUEST} {BEGINNING}")],
    user: User,
    answer: Annotated[fields.Answer, typer.Option("--answer", "-a", help=fields.ANSWER)],
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Settle a user's request to forget."""
    with work.store.opened(data_dir, user=user, embeds=True) as memory:
        known = [one.id for one in memory.history.requests(user_id=user)]
        request_id = work.ids.chosen(request_id, known, "requests to forget")
        found = memory.history.settle(request_id, user_id=user, answer=answer)
        memory.flush()
    work.show.as_json(found) if json else work.show.requests([found])
