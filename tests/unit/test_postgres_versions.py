"""The lowest and the highest version of PostgreSQL on this machine, and those that are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.events import MemoriesForgotten
from semantic_memory.testing import FrozenClock, HashEmbedder
from tests.support import postgres

postgres.require()

from semantic_memory.entrypoints.api.replies import Reply, Turn  # noqa: E402 - need the driver
from semantic_memory.entrypoints.state.postgres_rates import PostgresRates  # noqa: E402
from semantic_memory.entrypoints.state.postgres_replies import PostgresReplies  # noqa: E402
from semantic_memory.ledger.postgres import schema  # noqa: E402
from semantic_memory.ledger.postgres.connections import Connections  # noqa: E402

_USABLE = {
    major: folder for major, folder in postgres.installed().items() if major >= schema.OLDEST_SERVER
}
EXTREMES = sorted({min(_USABLE), max(_USABLE)})
U: Any = {"user_id": "maya"}
S: Any = {**U, "session_id": "s1"}


@pytest.fixture(scope="module", params=EXTREMES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    server = postgres.create(_USABLE[request.param])
    server.start()
    yield server.url
    server.stop("immediate")
    server.remove()


def test_a_store_is_created_written_read_and_kept_up(url: str) -> None:
    with SemanticMemory.open(url, embedder=HashEmbedder()) as memory:
        memory.observe([{"role": "user", "content": "I keep a canoe in Sintra"}], **S)
        fact = memory.add("Plays the cello", **U)
        memory.update(fact.id, **U, content="Plays the viola")
        memory.items.put(("plans",), "first", {"step": 1, "text": "buy\u0000 strings"}, **U)
        memory.flush()
        assert "viola" in memory.search("viola", **U)[0].fact.content
        assert "canoe" in memory.context("canoe", **U).text
        memory.delete(fact.id, **U)
        memory.forget(**U, query="canoe")
        assert not any(run.error for run in memory.jobs.run())
        assert [event.kind for event in memory.events.list(**U)][:2] == ["observed", "added"]
        assert all(finding.ok for finding in memory.admin.check()), memory.admin.check()
    with SemanticMemory.open(url, embedder=HashEmbedder()) as memory:
        assert memory.items.get(("plans",), "first", **U) is not None


def test_vectors_are_stored_uncompressed_in_every_partition(url: str) -> None:
    SemanticMemory.open(url, embedder=HashEmbedder()).close()
    connections = Connections(url, lambda _: None)
    try:
        with connections.snapshot() as db:
            rows = db.execute(
                "SELECT c.relname, a.attstorage FROM pg_attribute a JOIN pg_class c"
                " ON c.oid = a.attrelid WHERE a.attname = 'data' AND c.relkind IN ('r', 'p')"
                " AND c.relnamespace = current_schema()::regnamespace AND c.relname ~ '^vectors'"
            ).fetchall()
    finally:
        connections.close()
    assert len(rows) == 17
    assert {storage for _, storage in rows} == {"e"}


def test_the_state_of_a_service_is_kept(url: str, clock: FrozenClock) -> None:
    connections = Connections(url, lambda _: None)
    try:
        replies = PostgresReplies(connections, clock)
        assert replies.begin("a") is Turn.OURS
        replies.keep("a", Reply("f", 200, "application/json", b'{"user_id":"maya"}'))
        assert isinstance(replies.begin("a"), Reply)
        replies.withdraw(MemoriesForgotten("maya", 1, 0))
        replies.close()
        assert PostgresRates(connections, 60).draw("key") == 0.0
    finally:
        connections.close()


def test_a_server_that_is_too_old_is_refused_by_its_number() -> None:
    too_old = (schema.OLDEST_SERVER - 1) * 10_000 + 22
    with pytest.raises(ConfigurationError, match=f"PostgreSQL 12, .* {schema.OLDEST_SERVER} or"):
        schema.check_server(too_old)


@pytest.mark.skipif(
    min(postgres.installed()) >= schema.OLDEST_SERVER, reason="needs the programs of an old server"
)
def test_an_old_server_is_refused_before_anything_is_created(tmp_path: Path) -> None:
    server = postgres.create(postgres.installed()[min(postgres.installed())])
    server.start()
    try:
        with pytest.raises(ConfigurationError, match="upgrade the server"):
            SemanticMemory.open(server.url, embedder=HashEmbedder())
    finally:
        server.stop("immediate")
        server.remove()
