"""Commands of `memory.transfer`."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import (
    AsJson,
    DataDir,
    ExportFormat,
    OfAgent,
    OfRun,
    OneSession,
    User,
    Where,
)

transfer = typer.Typer(no_args_is_help=True, help="Export and import of a user's memory.")
app.add_typer(transfer, name="transfer")


@transfer.command("export")
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
    with work.store.opened(data_dir, user=user) as memory:
        records: Iterable[dict[str, Any]] = (
            [memory.transfer.to_dict(**whose)]
            if form == "json"
            else memory.transfer.export(**whose, filters=where or None)
        )
        lines = (json_format.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if out is None:
            sys.stdout.writelines(lines)
            return
        with work.private_files.create_private(out).open("w", encoding="utf-8") as file:
            file.writelines(lines)


@transfer.command("import")
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
    with work.store.opened(data_dir, user=user) as memory, show.progress(quiet=json) as report:
        if form == "json":
            found = memory.transfer.from_dict(_document(file), user_id=user)
        else:
            found = memory.transfer.load(_records(file), user_id=user)
        memory.flush(report)
    if json:
        others = {"renamed": found.renamed} if found.renamed else {}
        show.as_json({"new": int(found), **others})
        return
    show.out.print(f"imported {int(found):,} records")
    if found.renamed:
        show.out.print(f"{len(found.renamed):,} ids weren't free: --json names them")


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
            f"{file}: not one JSON document, as `transfer export --format json` writes it: {error}"
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
            f"{file}: not JSON lines, as `transfer export` writes them: {error}"
        ) from None
