"""Commands on sessions and on whole memories: what was said, taking out and in, forgetting."""

from __future__ import annotations

import json as json_format
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ingest.encryption import new_key
from semantic_memory.application.jobs.upkeep import JOBS
from semantic_memory.domain.errors import ConfigurationError, InvalidInputError
from semantic_memory.entrypoints.cli import show
from semantic_memory.entrypoints.cli.commands import AsJson, AsOf, DataDir, Since, Until, User, app
from semantic_memory.entrypoints.cli.opening import opened

__all__ = ["app"]

Session = Annotated[str, typer.Argument(help="The session's id.")]
OneSession = Annotated[Optional[str], typer.Option("--session", "-s", help="Only this session.")]


@app.command()
def sessions(user: User, data_dir: DataDir = None, json: AsJson = False) -> None:
    """List a user's sessions, the one with the latest message first."""
    with opened(data_dir) as memory:
        found = memory.sessions(user_id=user)
    show.as_json(found) if json else show.sessions(found)


@app.command()
def profile(
    user: User,
    as_of: AsOf = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Show a user at a glance: who they are, and what happened."""
    with opened(data_dir) as memory:
        found = memory.profile(user_id=user, as_of=as_of)
    show.as_json(found) if json else show.overview(found)


@app.command()
def configure(
    session: Session,
    user: User,
    extract: Annotated[
        Optional[bool], typer.Option("--extract/--no-extract", help="Read it for facts.")
    ] = None,
    fades: Annotated[
        Optional[bool], typer.Option("--fades/--no-fades", help="Let its facts fade.")
    ] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Do otherwise with a session than with others, from now on; tells what holds for it."""
    with opened(data_dir) as memory:
        options = memory.configure_session(
            user_id=user, session_id=session, extract=extract, fades=fades
        )
    show.as_json(options) if json else show.pairs(options.model_dump())


@app.command()
def log(session: Session, user: User, data_dir: DataDir = None, json: AsJson = False) -> None:
    """Show what was said in a session."""
    with opened(data_dir) as memory:
        messages = memory.messages(user_id=user, session_id=session)
    show.as_json(messages) if json else show.messages(messages)


@app.command()
def restore(
    memory_id: Annotated[str, typer.Argument()],
    reason: Annotated[str, typer.Option(help="Kept in its history.")] = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Believe a memory again that was superseded, archived or quarantined."""
    with opened(data_dir) as memory:
        fact = memory.restore(memory_id, reason=reason)
    show.as_json(fact) if json else show.facts([fact])


@app.command()
def forget(
    user: User,
    tag: Annotated[Optional[str], typer.Option("--tag", "-t", help="A topic.")] = None,
    since: Since = None,
    until: Until = None,
    session: OneSession = None,
    everything: Annotated[bool, typer.Option(help="All that is known of the user.")] = False,
    reason: Annotated[str, typer.Option(help="Kept with the tombstones.")] = "",
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Forget a topic, a time, a session or a user, for good."""
    narrowed: dict[str, str | datetime | None] = {
        "tag": tag,
        "since": since,
        "until": until,
        "session_id": session,
    }
    if everything == any(value is not None for value in narrowed.values()):
        raise InvalidInputError(
            "say what to forget: --tag, --since, --until, --session, or --everything alone"
        )
    with opened(data_dir) as memory:
        number = memory.forget(user_id=user, reason=reason, **narrowed)  # type: ignore[arg-type]
        memory.flush()
    if json:
        show.as_json({"forgotten": number})
        return
    show.out.print(f"forgot {number:,} memories")
    if number:
        show.warn(
            "their texts leave the disk with the weekly compaction, or now with"
            " `semantic-memory maintain compact`"
        )


@app.command()
def export(
    user: User,
    session: OneSession = None,
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="A file to write.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write a user's memory as JSON lines, to standard output or a file."""
    with opened(data_dir) as memory:
        lines = (
            json_format.dumps(record, ensure_ascii=False) + "\n"
            for record in memory.export(user_id=user, session_id=session)
        )
        if out is None:
            sys.stdout.writelines(lines)
            return
        with _private(out).open("w", encoding="utf-8") as file:
            file.writelines(lines)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="What `export` wrote.")],
    user: User,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Take in what `export` wrote, as a memory of --user."""
    with opened(data_dir) as memory, show.progress(quiet=json) as report:
        number = memory.load(_records(file), user_id=user)
        memory.flush(report)
    show.as_json({"new": number}) if json else show.out.print(f"took in {number:,} records")


@app.command()
def maintain(
    jobs: Annotated[Optional[list[str]], typer.Argument(help=f"{', '.join(JOBS)}, or all.")] = None,
    user: Annotated[Optional[str], typer.Option("--user", "-u", help="Only this user.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Tell what would be done, and do nothing.")] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Merge duplicates, settle conflicts, let facts fade, roll histories up, erase for good."""
    with opened(data_dir) as memory, show.err.status("Working"):
        runs = memory.maintain(jobs or ["all"], user_id=user, dry_run=dry_run)
        if not dry_run:
            memory.flush()
    show.as_json(runs) if json else show.runs(runs)
    if any(run.error for run in runs):
        raise typer.Exit(1)


@app.command("new-key")
def new_key_(file: Annotated[Path, typer.Argument(help="A file that isn't there yet.")]) -> None:
    """Make a key for `log.key_file`, which encrypts the session logs."""
    _private(file).write_text(new_key() + "\n", encoding="ascii")
    show.out.print(f"wrote {file}; keep it outside the data directory", soft_wrap=True)


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


def _private(file: Path) -> Path:
    """A new file that only its owner reads."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise InvalidInputError(f"{file} is there already: name another file") from None
    except OSError as error:
        raise ConfigurationError(f"can't write {file}: {error.strerror or error}") from None
    return file
