"""Commands of `memory.jobs`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsJson, DataDir, OneUser

jobs = typer.Typer(no_args_is_help=True, help="Maintenance jobs.")
app.add_typer(jobs, name="jobs")


@jobs.command("run")
def run(
    jobs: Annotated[Optional[list[str]], typer.Argument(help=fields.JOB_NAMES)] = None,
    user: OneUser = None,
    dry_run: Annotated[bool, typer.Option(help=fields.DRY_RUN)] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Expire, merge duplicates, settle conflicts, let facts fade, roll histories up, erase."""
    with work.store.opened(data_dir) as memory, work.show.waiting("running the jobs"):
        runs = memory.jobs.run(jobs or [fields.ALL_JOBS], user_id=user, dry_run=dry_run)
        if not dry_run:
            memory.flush()
    work.show.as_json(runs) if json else work.show.runs(runs)
    if any(run.error for run in runs):
        raise typer.Exit(1)


@jobs.command("runs")
def runs(
    limit: Annotated[
        int, typer.Option("--limit", "-n", help=fields.RUNS.description)
    ] = fields.RUNS.default,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """List the latest runs of maintenance jobs, the latest first, with how far one under way is."""
    with work.store.opened(data_dir) as memory:
        found = memory.jobs.runs(limit)
    work.show.as_json(found) if json else work.show.runs(found)
