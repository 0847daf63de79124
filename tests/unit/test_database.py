"""A store in a database, as the library and the commands open it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from ingest.encryption import new_key
from semantic_memory import SemanticMemory, repair
from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError
from semantic_memory.settings import EncryptionSettings, Settings, StoreSettings, load, located
from semantic_memory.testing import HashEmbedder
from tests.support import postgres
from tests.support.command_line import Cli

postgres.require()

from semantic_memory.ledger.postgres.connections import split_url  # noqa: E402 - its driver may be absent

U: Any = {"user_id": "maya"}
S: Any = {**U, "session_id": "s1"}
SECRET = "postgresql://memory:s3cret@127.0.0.1:1/memories?schema=agents"


class Task(BaseModel):
    step: str


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("database")


def opened(url: str, **parts: Any) -> SemanticMemory:
    return SemanticMemory.open(url, embedder=HashEmbedder(), **parts)


def test_a_session_goes_on_in_another_process(url: str) -> None:
    with opened(url) as one, opened(url) as other:
        with one.sessions.open(**S, window=8_000) as session:
            session.push(user="I live in Lisbon", assistant="Noted.")
            session.checkpoint("trip", Task).save(Task(step="book"))
        with other.sessions.open(**S, window=8_000) as session:
            assert [message.text for message in session.messages] == ["I live in Lisbon", "Noted."]
            assert session.checkpoint("trip", Task).load() == Task(step="book")
            session.push(user="And I work in Sintra")
        with one.sessions.open(**S, window=8_000) as session:
            assert session.messages[-1].text == "And I work in Sintra"
        other.forget(**U, everything=True)
        with one.sessions.open(**S, window=8_000) as session:
            assert session.messages == ()
            assert session.checkpoint("trip", Task).load() is None


def test_no_two_processes_take_the_same_message_back(url: str) -> None:
    with opened(url) as one, opened(url) as other:
        said = [{"role": "user", "content": f"Thing {number}"} for number in range(12)]
        one.observe(said, **S)

        def take(memory: SemanticMemory) -> list[str]:
            return [memory.sessions.pop(**S).content for _ in range(6)]

        with ThreadPoolExecutor(2) as pool:
            taken = [name for names in pool.map(take, (one, other)) for name in names]
        assert sorted(taken) == sorted(message["content"] for message in said)


def test_a_forgetting_is_proved_by_the_tables(url: str) -> None:
    with opened(url) as memory:
        memory.observe([{"role": "user", "content": "My locker is marmalade7"}], **S)
        memory.add("Plays the cello", **U)
        forgotten = memory.forget(**U, query="marmalade7", proof=True)
        assert forgotten.proof is not None
        assert (forgotten.proof.found, forgotten.proof.files > 20) == ((), True)
        memory.add("Owns a zeppelin", **U)
        assert any(b"Owns a zeppelin" in chunk for chunk in chunks(memory))
        assert memory.admin.stats().store_bytes > 100_000
        assert [one.check for one in memory.admin.check()][:2] == ["database", "encryption"]


def chunks(memory: SemanticMemory) -> list[bytes]:
    from semantic_memory.ledger.postgres import PostgresLedger
    from semantic_memory.ledger.postgres.place import Database
    from tests.support.inside import inside

    ledger = inside(memory).ledger
    assert isinstance(ledger, PostgresLedger)
    return [chunk for _, rows in Database(ledger.connections).contents() for chunk in rows]


def test_what_is_of_directories_is_refused(url: str) -> None:
    for verb, reason in ((repair.reembed, "migrate"), (repair.recover, "backup")):
        with pytest.raises(ConfigurationError, match=reason):
            verb(url, embedder=HashEmbedder())
    with pytest.raises(ConfigurationError, match=r"use `SemanticMemory\.open`"):
        SemanticMemory.connect(url, embedder=HashEmbedder())
    key = EncryptionSettings(key=SecretStr(new_key()))
    with pytest.raises(ConfigurationError, match="encrypt the disks"):
        opened(url, settings=Settings(encryption=key))


def test_the_password_is_shown_nowhere() -> None:
    settings = located(SECRET, None)
    with pytest.raises(StoreUnavailableError) as caught:
        SemanticMemory.open(settings=settings, embedder=HashEmbedder())
    assert settings.store.plain_url == SECRET
    assert settings.place == "postgresql://127.0.0.1:1/memories?schema=agents"
    for text in (str(caught.value), repr(settings), settings.model_dump_json()):
        assert "s3cret" not in text


@pytest.mark.parametrize(
    "url",
    [
        "mysql://memory:s3cret@db/memories",
        "postgresql://memory:/s3cret@db/memories",
        "postgresql://memory:?s3cret@db/memories",
        "postgresql://memory:#s3cret@db/memories",
        "postgresql://memory:a@s3cret@db/memories",
        "postgresql://memory:100%s3cret@db/memories",
        "postgresql://memory:s3cret/memories",
        "postgresql://memory:s3cret@[::1/memories",
        "mysql://db/memories?user=memory&password=s3cret",
    ],
)
def test_a_url_that_is_refused_is_not_quoted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError) as given:
        located(url, None)
    with pytest.raises(ConfigurationError) as driven:
        split_url(url)
    monkeypatch.setenv("SEMANTIC_MEMORY_STORE__URL", url)
    with pytest.raises(ConfigurationError) as loaded:
        load()
    for error in (given, driven, loaded):
        assert "s3cret" not in str(error.value)
        assert "\n" not in str(error.value)


def test_a_url_in_place_of_a_section_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_MEMORY_STORE", SECRET)
    with pytest.raises(ConfigurationError) as caught:
        load()
    assert "s3cret" not in str(caught.value)


def test_a_directory_that_is_named_goes_before_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_MEMORY_STORE__URL", SECRET)
    assert located(None, None).store.plain_url == SECRET
    chosen = located(tmp_path, None)
    assert (chosen.store, chosen.data_dir) == (StoreSettings(), tmp_path)


def test_commands_work_on_a_database(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_MEMORY_STORE__URL", url)
    cli = Cli(tmp_path / "nothing")
    fact = cli.json("add", "Prefers tea", "-u", "maya")
    assert "Prefers tea" in cli("search", "tea", "-u", "maya").stdout
    assert cli.json("admin", "stats")["memories"] == 1
    assert "database" in cli("admin", "check").stdout
    made = cli.json("keys", "create", "bot", "-u", "*")
    assert made["id"] in cli("keys", "list").stdout
    cli("delete", fact["id"])
    assert "Prefers tea" not in cli("search", "tea", "-u", "maya").stdout
    for command, reason in (
        (("admin", "reembed"), "reembed works on a data directory"),
        (("admin", "recover"), "recover is for a data directory"),
        (("admin", "encrypt"), "encrypt and decrypt convert a data directory"),
        (("admin", "decrypt"), "encrypt and decrypt convert a data directory"),
        (("admin", "migrate"), "migrate brings data directories up to date"),
    ):
        assert reason in " ".join(cli(*command, code=2).stderr.split())
    assert "**********" in cli("config").stdout
    assert not (tmp_path / "nothing").exists()
