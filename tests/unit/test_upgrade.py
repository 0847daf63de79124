"""An older worker goes on beside a newer one, whose schema has only added to its own."""

from __future__ import annotations

from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import SchemaTooNewError
from semantic_memory.testing import HashEmbedder
from tests.support import postgres

postgres.require()

import psycopg  # noqa: E402 - it may be absent

from semantic_memory.ledger.postgres.schema import MIGRATIONS  # noqa: E402

SCHEMA = "upgraded"
U: Any = {"user_id": "maya"}
S: Any = {**U, "session_id": "s1"}


def opened(url: str) -> SemanticMemory:
    return SemanticMemory.open(url, embedder=HashEmbedder())


def expand(url: str) -> None:
    """Add a column to every table, a table and an index, as a newer version's migration may."""
    with psycopg.connect(url) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}".encode())
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
            " AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'",
            (SCHEMA,),
        ).fetchall()
        assert len(tables) > 20
        for (name,) in tables:
            statement = f"ALTER TABLE {name} ADD COLUMN later TEXT NOT NULL DEFAULT 'new'"
            connection.execute(statement.encode())
        connection.execute("CREATE TABLE moods (user_id TEXT PRIMARY KEY, mood TEXT)")
        connection.execute("CREATE INDEX facts_later ON facts (user_id, later)")
        connection.execute("INSERT INTO migrations VALUES (%s)", (len(MIGRATIONS) + 1,))


def test_an_open_store_goes_on_while_a_newer_version_adds_to_its_tables(
    postgres_server: postgres.Server,
) -> None:
    url = f"{postgres_server.url}&schema={SCHEMA}"
    with opened(url) as older:
        older.observe([{"role": "user", "content": "I keep a canoe in Sintra"}], **S)
        expand(postgres_server.url)
        with pytest.raises(SchemaTooNewError, match="upgrade the package"):
            opened(url)
        older.observe([{"role": "user", "content": "My sister lives in Oslo"}], **S)
        fact = older.add("Plays the cello", **U)
        older.update(fact.id, **U, content="Plays the viola")
        older.items.put(("a",), "plan", {"step": 1}, **U)
        older.flush()
        assert "viola" in older.search("viola", **U)[0].fact.content
        assert "canoe" in older.context("canoe", **U).text
        assert len(older.sessions.messages(**S)) == 2
        assert older.profile.get(**U) is not None
        assert not any(run.error for run in older.jobs.run())
        older.delete(fact.id, **U)
        older.forget(**U, query="canoe")
        older.flush()
        texts = " ".join(one.content for one in older.list(**U, limit=None))
        assert "viola" not in texts
        assert "canoe" not in texts
        assert "Oslo" in texts
        assert all(finding.ok for finding in older.admin.check()), older.admin.check()
