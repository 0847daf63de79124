"""Many stores are brought to the newest schema by one command."""

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from semantic_memory.application.migration import find_stores, migrate_stores
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.entrypoints.cli.commands import app
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.ledger.sqlite.schema import MIGRATIONS

NEWEST = len(MIGRATIONS)


def ledger(directory: Path, version: int) -> Path:
    """Make a store whose ledger has an older (or newer) schema."""
    directory.mkdir(parents=True)
    db = sqlite3.connect(directory / "ledger.sqlite3")
    db.executescript(" ".join(MIGRATIONS[: min(version, 2)]))  # a newer one is refused unread
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    return directory


def schema(directory: Path) -> int:
    db = sqlite3.connect(directory / "ledger.sqlite3")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return int(version)


def test_stores_are_migrated_one_by_one_with_progress(tmp_path):
    stores = [ledger(tmp_path / name, version) for name, version in (("a", 1), ("b", 2))]
    seen: list[tuple[str, int, int]] = []
    outcomes = list(migrate_stores(find_stores([tmp_path]), 0.0, lambda *step: seen.append(step)))
    assert [(one.directory, one.before, one.after) for one in outcomes] == [
        (stores[0], 1, NEWEST),
        (stores[1], 2, NEWEST),
    ]
    assert [schema(store) for store in stores] == [NEWEST, NEWEST]
    assert seen == [("migrating", 0, 2), ("migrating", 1, 2), ("migrating", 2, 2)]


def test_a_store_that_cannot_be_migrated_holds_up_no_other(tmp_path):
    newer, held, older = (
        ledger(tmp_path / "a", NEWEST + 1),
        ledger(tmp_path / "b", 1),
        ledger(tmp_path / "c", 1),
    )
    lock = DirectoryLock(held)
    outcomes = list(migrate_stores(find_stores([tmp_path]), 0.0))
    lock.release()
    assert [one.directory for one in outcomes] == [newer, held, older]
    assert "upgrade the package" in str(outcomes[0].error)
    assert "in use by process" in str(outcomes[1].error)
    assert (schema(newer), schema(held), schema(older)) == (NEWEST + 1, 1, NEWEST)


def test_the_command_says_what_was_done(tmp_path):
    ledger(tmp_path / "a", 1)
    first = CliRunner().invoke(app, ["admin", "migrate", str(tmp_path)])
    assert first.exit_code == 0
    assert f"schema 1 -> {NEWEST}" in first.stdout
    again = CliRunner().invoke(app, ["admin", "migrate", str(tmp_path), "--json"])
    (outcome,) = json.loads(again.stdout)
    assert (outcome["before"], outcome["after"]) == (NEWEST, NEWEST)


def test_a_directory_without_stores_is_an_error(tmp_path):
    with pytest.raises(NotFoundError, match="name a data directory"):
        find_stores([tmp_path])
