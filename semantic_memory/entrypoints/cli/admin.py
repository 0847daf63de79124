"""Commands of `memory.admin`, and others on a store as a whole."""

from __future__ import annotations

import json as json_format
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from semantic_memory.domain import fields
from semantic_memory.domain.errors import ConfigurationError, InvalidInputError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.entrypoints.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from semantic_memory.domain.reports import Stats
    from semantic_memory.entrypoints.state import ServiceState
    from semantic_memory.settings import Settings

admin = typer.Typer(
    no_args_is_help=True, help="The store as a whole: count, check, repair, move, encrypt."
)
app.add_typer(admin, name="admin")


@admin.command("stats")
def stats(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Count the contents of the store."""
    with work.store.opened(data_dir) as memory:
        found = memory.admin.stats()
    if json:
        work.show.as_json(found)
    else:
        values = found.model_dump()
        tally = values.pop("by_category_and_status")
        for name in ("spending", "budgets"):
            values.pop(name)
        work.show.pairs({**values, **tally, **_costs(found)})


def _costs(found: Stats) -> dict[str, str]:
    """Return the costs of models and the state of their budgets, in words."""
    costs = {
        f"{one.task}, {one.user_id or 'others'}": f"{one.calls} calls, "
        f"{one.input_tokens + one.output_tokens:,} tokens, USD {one.cost_usd:.4f}"
        for one in found.spending
    }
    for one in found.budgets:
        used = f"{one.tokens:,} tokens, USD {one.cost_usd:.4f} today"
        until = one.reached_until
        costs[f"budget of {one.task}"] = (
            f"{used}: spent until {until:%Y-%m-%d %H:%M} UTC" if until else used
        )
    return costs


@admin.command("check")
def check(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Check the store from end to end, with a remedy for each problem."""
    show = work.show
    with work.store.opened(data_dir) as memory, show.waiting("checking the store"):
        findings = memory.admin.check()
    show.as_json(findings) if json else show.findings(findings)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@admin.command("rebuild")
def rebuild(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Fill the vector index again from the ledger, embedding nothing."""
    with work.store.opened(data_dir) as memory, work.show.progress(quiet=json) as report:
        number = memory.admin.rebuild(report)
    work.show.number("indexed", number, json=json)


@admin.command("reembed")
def reembed(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Embed every memory again with the model in the settings."""
    work.show.number("embedded", work.store.reembed(data_dir, quiet=json), json=json)


@admin.command("recover")
def recover(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Continue with an outdated ledger: read the session logs again."""
    work.show.number("memories", work.store.recover(data_dir, quiet=json), json=json)


@admin.command("migrate")
def migrate(
    directories: Annotated[
        Optional[list[Path]],
        typer.Argument(help="Data directories, or directories above them [the configured one]."),
    ] = None,
    to: Annotated[
        Optional[str],
        typer.Option(help="Copy the store to this database's URL, or from one to this directory."),
    ] = None,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Bring stores to the schema of this version, as opening one does; or copy one with --to.

    A copy is compared with the store, which stays as it is. Run it again if it is interrupted.
    """
    show, settings = work.show, work.settings.located(data_dir, None)
    if to is not None:
        if directories:
            raise InvalidInputError("migrate: name the store to copy by --data-dir or settings")
        _move(settings, to, json=json)
        return
    if settings.store.url is not None and not directories:
        raise ConfigurationError(
            "migrate brings data directories up to date: the database at store.url is, as soon as"
            " it is opened"
        )
    stores = work.migration.find_stores(directories or [settings.data_dir])
    encryption = work.keyring.make_encryption(settings)
    keys = () if encryption is None else encryption.database_keys
    with show.progress(quiet=json) as report:
        outcomes = list(work.migration.migrate_stores(stores, settings.lock_seconds, report, keys))
    show.as_json(outcomes) if json else show.migrated(outcomes)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _move(settings: Settings, to: str, *, json: bool) -> None:
    """Copy a store, and the API keys beside it."""
    target = work.settings.located(to, settings)

    def copy_keys() -> None:
        with _state(settings) as source, _state(target) as state:
            keys = state.keys()
            known = {key.id for key in keys.read()}
            for key in source.keys().read():
                if key.id not in known:
                    keys.add(key)

    with work.show.progress(quiet=json) as report:
        moved = work.moving.move_store(settings, to, report, copy_keys)
    found = moved._asdict()
    work.show.as_json(found) if json else work.show.pairs(found)


def _state(settings: Settings) -> AbstractContextManager[ServiceState]:
    url = settings.store.plain_url
    encryption = None if url is not None else work.keyring.make_encryption(settings)
    state: AbstractContextManager[ServiceState] = work.state.opened(
        settings.data_dir, encryption, url
    )
    return state


@app.command()
def prepare() -> None:
    """Load the embedding model and embed a word: downloads or compiles a model that isn't here."""
    embedder = work.store.prepared(work.settings.load())
    embedder.embed(["ready"], "query")
    work.show.out.print(f"ready: {embedder.identity}", soft_wrap=True, highlight=False)


def _receipt(file: Path) -> Any:
    """Read a receipt, or the answer of `forget --proof --json` with one."""
    try:
        found = json_format.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"can't read a receipt from {file}: {error}") from error
    for name in ("proof", "receipt"):
        found = found.get(name) or found if isinstance(found, dict) else found
    return found


@admin.command("verify-receipt")
def verify_receipt(
    file: Annotated[Path, typer.Argument(help=fields.RECEIPT)],
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Verify a receipt of forgetting, or the JSON of `forget --proof` with one."""
    given = _receipt(file)
    with work.store.opened(data_dir) as memory:
        found = memory.admin.verify_receipt(given)
    work.show.as_json(found) if json else work.show.verified(found)
    if not found.stands:
        raise typer.Exit(1)
