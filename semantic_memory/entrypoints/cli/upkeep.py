"""Commands on whole stores: count, check, rebuild, embed anew, recover, migrate, prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsJson, DataDir

__all__ = ["app"]


@app.command()
def stats(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Count the contents of the store."""
    with work.store.opened(data_dir) as memory:
        found = memory.stats()
    if json:
        work.show.as_json(found)
    else:
        values = found.model_dump()
        tally = values.pop("by_category_and_status")
        work.show.pairs({**values, **tally})


@app.command()
def doctor(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Check the store from end to end, with a remedy for each problem."""
    show = work.show
    with work.store.opened(data_dir) as memory, show.err.status("Checking"):
        findings = memory.check()
    show.as_json(findings) if json else show.findings(findings)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@app.command()
def rebuild(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Fill the vector index anew from the ledger, embedding nothing."""
    with work.store.opened(data_dir) as memory, work.show.progress(quiet=json) as report:
        number = memory.rebuild(report)
    work.show.number("indexed", number, json=json)


@app.command()
def reembed(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Embed every memory anew with the model in the settings."""
    work.show.number("embedded", work.store.reembed(data_dir, quiet=json), json=json)


@app.command()
def recover(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Go on with a ledger that is older than it was: read the session logs again."""
    work.show.number("memories", work.store.recover(data_dir, quiet=json), json=json)


@app.command()
def migrate(
    directories: Annotated[
        Optional[list[Path]],
        typer.Argument(help="Data directories, or directories above them [the configured one]."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Bring stores to the schema of this version; opening a store does it too."""
    show, settings = work.show, work.settings.load()
    stores = work.migration.find_stores(directories or [settings.data_dir])
    encryption = work.keyring.make_encryption(settings)
    keys = () if encryption is None else encryption.database_keys
    with show.progress(quiet=json) as report:
        outcomes = list(work.migration.migrate_stores(stores, settings.lock_seconds, report, keys))
    show.as_json(outcomes) if json else show.migrated(outcomes)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


@app.command()
def prepare() -> None:
    """Load the embedding model and embed a word: downloads or compiles a model that isn't here."""
    embedder = work.store.prepared(work.settings.load())
    embedder.embed(["ready"], "query")
    work.show.out.print(f"ready: {embedder.identity}", soft_wrap=True, highlight=False)
