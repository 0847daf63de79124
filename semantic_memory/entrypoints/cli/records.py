"""Commands on whole memories: show, forget, export, import, maintain."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import (
    AsAgent,
    AsJson,
    DataDir,
    ExportFormat,
    KeepSource,
    MemoryId,
    OfAgent,
    OfRun,
    OneSession,
    OneUser,
    Reason,
    User,
    Where,
)

__all__ = ["app"]


@app.command()
def audit(
    user: User,
    memory: Annotated[Optional[str], typer.Option("--memory", help=fields.WITH_MEMORY)] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", help=fields.RECORDS.description)
    ] = fields.RECORDS.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List which memories entered a user's prompts, when and why, the latest block first."""
    with work.store.opened(data_dir) as opened:
        found = opened.audit(user_id=user, memory_id=memory, limit=limit)
    work.show.as_json(found) if json else work.show.audit(found)


@app.command()
def tags(user: User, data_dir: DataDir = None, json: AsJson = False) -> None:
    """List a user's tags, each with the number of memories that have it or one below it."""
    with work.store.opened(data_dir) as memory:
        found = memory.tags(user_id=user)
    if json:
        work.show.as_json(found)
    else:
        work.show.pairs({one.tag: one.memories for one in found})


@app.command()
def profile(
    user: User,
    as_of: Annotated[Optional[datetime], typer.Option(help=fields.PROFILE_AS_OF)] = None,
    agent: AsAgent = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show a user's profile and history."""
    with work.store.opened(data_dir) as memory:
        found = memory.profile(user_id=user, as_of=as_of, agent_id=agent)
    work.show.as_json(found) if json else work.show.overview(found)


@app.command()
def restore(
    memory_id: MemoryId,
    reason: Reason = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Restore a memory that was superseded, archived or quarantined."""
    with work.store.opened(data_dir) as memory:
        fact = memory.restore(memory_id, reason=reason)
    work.show.as_json(fact) if json else work.show.facts([fact])


@app.command()
def forget(
    user: User,
    entity: Annotated[
        Optional[str], typer.Option("--entity", "-e", help=fields.FORGET_ENTITY)
    ] = None,
    query: Annotated[Optional[str], typer.Option("--query", "-q", help=fields.FORGET_QUERY)] = None,
    tag: Annotated[Optional[str], typer.Option("--tag", "-t", help=fields.FORGET_TAG)] = None,
    since: Annotated[Optional[datetime], typer.Option(help=fields.FORGET_SINCE)] = None,
    until: Annotated[Optional[datetime], typer.Option(help=fields.FORGET_UNTIL)] = None,
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
    """Show what forgetting a subject, a time, a session or a user would take; --yes does it."""
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
    with work.store.opened(data_dir) as memory:
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
        done, how = ("withdraw", "until `restore`") if withdraw else ("forget", "for good")
        items = f" and {number.items:,} items" if number.items else ""
        work.show.out.print(f"would {done} {number:,} memories{items}")
        work.show.warn(f"nothing was done: add --yes to {done} them {how}")
        return
    if withdraw:
        work.show.out.print(f"withdrew {number:,} memories; `restore` brings one back")
        return
    items = f" and {number.items:,} items" if number.items else ""
    work.show.out.print(f"forgot {number:,} memories{items}")
    work.show.kept_in(number.kept_in)
    if number.proof is not None:
        work.show.proof(number.proof)
    elif number and not now:
        work.show.warn(
            "their texts leave the disk with the weekly compaction, or now with"
            " `semantic-memory maintain compact`"
        )


def _receipt(file: Path) -> Any:
    """Read a receipt, or the answer of `forget --proof --json` with one."""
    try:
        found = json_format.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"can't read a receipt from {file}: {error}") from error
    for name in ("proof", "receipt"):
        found = found.get(name) or found if isinstance(found, dict) else found
    return found


@app.command("verify-receipt")
def verify_receipt(
    file: Annotated[Path, typer.Argument(help=fields.RECEIPT)],
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Verify a receipt of forgetting, or the JSON of `forget --proof` with one."""
    given = _receipt(file)
    with work.store.opened(data_dir) as memory:
        found = memory.verify_receipt(given)
    work.show.as_json(found) if json else work.show.verified(found)
    if not found.stands:
        raise typer.Exit(1)


@app.command()
def export(
    user: User,
    session: OneSession = None,
    agent: OfAgent = None,
    run: OfRun = None,
    where: Where = "",
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="A file to write.")] = None,
    form: ExportFormat = "jsonl",
    data_dir: DataDir = None,
) -> None:
    """Write a user's memory as JSON, to standard output or a file."""
    _check_format(form)
    if where and form == "json":
        raise InvalidInputError("export: --where gives JSON lines only: leave --form out")
    whose: dict[str, Any] = {
        "user_id": user,
        "session_id": session,
        "agent_id": agent,
        "run_id": run,
    }
    with work.store.opened(data_dir) as memory:
        records: Iterable[dict[str, Any]] = (
            [memory.to_dict(**whose)]
            if form == "json"
            else memory.export(**whose, filters=where or None)
        )
        lines = (json_format.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if out is None:
            sys.stdout.writelines(lines)
            return
        with work.private_files.create_private(out).open("w", encoding="utf-8") as file:
            file.writelines(lines)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote.")],
    user: User,
    form: ExportFormat = "jsonl",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Import records that `export` wrote, as memories of --user."""
    _check_format(form)
    show = work.show
    with work.store.opened(data_dir) as memory, show.progress(quiet=json) as report:
        if form == "json":
            number = memory.from_dict(_document(file), user_id=user)
        else:
            number = memory.load(_records(file), user_id=user)
        memory.flush(report)
    show.as_json({"new": number}) if json else show.out.print(f"took in {number:,} records")


@app.command()
def maintain(
    jobs: Annotated[Optional[list[str]], typer.Argument(help=fields.JOB_NAMES)] = None,
    user: OneUser = None,
    dry_run: Annotated[bool, typer.Option(help=fields.DRY_RUN)] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Expire, merge duplicates, settle conflicts, let facts fade, roll histories up, erase."""
    with work.store.opened(data_dir) as memory, work.show.err.status("Working"):
        runs = memory.maintain(jobs or [fields.ALL_JOBS], user_id=user, dry_run=dry_run)
        if not dry_run:
            memory.flush()
    work.show.as_json(runs) if json else work.show.runs(runs)
    if any(run.error for run in runs):
        raise typer.Exit(1)


def _check_format(form: str) -> None:
    if form not in fields.EXPORT_FORMATS:
        known = " or ".join(fields.EXPORT_FORMATS)
        raise InvalidInputError(f"unknown format {form!r}: use {known}")


def _document(file: Path) -> dict[str, Any]:
    try:
        found = json_format.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"can't read {file}: {error}") from None
    except json_format.JSONDecodeError as error:
        raise InvalidInputError(
            f"{file}: not one JSON document, as `export --format json` writes it: {error}"
        ) from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{file}: not a JSON object")
    return found


def _records(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                record = json_format.loads(line)
                if not isinstance(record, dict):
                    raise InvalidInputError(f"{file}, line {number}: not a JSON object")
                yield record
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"can't read {file}: {error}") from None
    except json_format.JSONDecodeError as error:
        raise InvalidInputError(
            f"{file}: not JSON lines, as `export` writes them: {error}"
        ) from None
