"""A store in PostgreSQL is restored to a moment, as docs/how-to/operations.md says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.chaos.postgres import PostgresServer, binaries, reachable_directory
from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.testing import HashEmbedder
from tests.conftest import eventually
from tests.support import postgres

postgres.require()

import psycopg  # noqa: E402 - is there only with the extra

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operations.md"
MAYA: Any = {"user_id": "maya"}
KIM: Any = {"user_id": "kim"}
SAID = "I keep a canoe in Sintra"


def settings(name: str, archive: Path) -> str:
    """Return the settings of the page that begin with this one, for another archive."""
    blocks = re.findall(r"^ *```ini\n(.*?)^ *```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (found,) = [block for block in blocks if f"{name} =" in block]
    assert "/srv/archive/" in found
    return re.sub("/srv/archive", str(archive), found)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    programs = binaries()
    if programs is None or not (programs / "pg_basebackup").exists():
        pytest.skip(f"needs pg_basebackup, which is not in {programs}")
    server = PostgresServer(reachable_directory(), durable=False)
    archive = server.directory / "archive"
    archive.mkdir()
    archive.chmod(0o777)  # the server may be another user
    server.configure(settings("archive_command", archive))
    server.start()
    yield server
    server.stop("immediate")
    server.remove()


def ask(server: PostgresServer, question: str) -> Any:
    with psycopg.connect(server.url, autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def archived(server: PostgresServer) -> bool:
    """Have the server archive all that it wrote, and return True once it has."""
    segment = ask(server, "SELECT pg_walfile_name(pg_current_wal_lsn())")
    ask(server, "SELECT pg_switch_wal()")
    return eventually(lambda: (server.directory / "archive" / segment).exists())


def restore(server: PostgresServer, backup: Path, moment: str) -> None:
    server.stop()
    server.replace_files(backup)
    target = settings("restore_command", server.directory / "archive")
    target, replaced = re.subn(r"(?<=recovery_target_time = ')[^']+", moment, target)
    assert replaced == 1
    server.configure(target)
    server.start()
    assert eventually(lambda: not ask(server, "SELECT pg_is_in_recovery()"))


def texts(memory: SemanticMemory, user: Any) -> set[str]:
    return {fact.content for fact in memory.list(**user)}


def test_a_store_is_restored_to_the_moment_before_a_mishap(
    server: PostgresServer,
) -> None:
    url = f"{server.url}&schema=agents"
    backup = server.directory / "backup"
    with SemanticMemory.open(url, embedder=HashEmbedder()) as memory:
        memory.add("Plays the cello", **MAYA)
        server.back_up(backup)
        memory.observe([{"role": "user", "content": SAID}], **KIM, session_id="s")
        memory.add("Speaks Welsh", **MAYA)
        memory.flush()
        before = {who["user_id"]: texts(memory, who) for who in (MAYA, KIM)}
        place = memory.events.list(after="now").next
        moment = str(ask(server, "SELECT clock_timestamp()"))
        memory.forget(**MAYA, everything=True)
        memory.add("Collects stamps", **KIM)
        memory.flush()
        lost = memory.events.list(after="now").next
        assert texts(memory, MAYA) == set()
    assert archived(server)
    restore(server, backup, moment)
    with SemanticMemory.open(url, embedder=HashEmbedder()) as memory:
        assert {who["user_id"]: texts(memory, who) for who in (MAYA, KIM)} == before
        assert memory.search("cello", **MAYA)[0].fact.content == "Plays the cello"
        kept = memory.sessions.messages(**KIM, session_id="s")
        assert [one.content for one in kept] == [SAID]
        assert memory.events.list(after="now").next == place
        with pytest.raises(InvalidInputError):
            memory.events.list(after=lost)
        memory.add("Has a veranda", **MAYA)
        assert "Has a veranda" in texts(memory, MAYA)
        assert all(finding.ok for finding in memory.admin.check()), memory.admin.check()
