"""Moving a store between a data directory and a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from ingest.encryption import new_key
from semantic_memory import SemanticMemory
from semantic_memory.bootstrap.moving import move_store
from semantic_memory.domain.errors import ConfigurationError, NotFoundError, StoreCorruptError
from semantic_memory.ledger.sql import copying
from semantic_memory.settings import EncryptionSettings, Settings, StoreSettings, UpkeepSettings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import say
from tests.support import postgres
from tests.support.command_line import Cli

postgres.require()

USERS = ("ida", "lee", "maya")
S: Any = {"user_id": "maya", "session_id": "s1"}


class Task(BaseModel):
    step: str = ""


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("moving")


@pytest.fixture
def here(tmp_path: Path) -> Settings:
    """A store in a directory, with something of everything."""
    settings = Settings(data_dir=tmp_path / "here", upkeep=UpkeepSettings(schedule=False))
    fill(settings)
    return settings


def opened(settings: Settings) -> SemanticMemory:
    return SemanticMemory.open(settings=settings, embedder=HashEmbedder(), index=InMemoryIndex())


def fill(settings: Settings) -> None:
    with opened(settings) as memory:
        fact = memory.add("Maya lives in Porto", user_id="maya", tags=["place.home"])
        memory.update(fact.id, user_id="maya", content="Maya lives in Lisbon")
        secret = memory.add("Maya's locker is 4711", user_id="maya")
        memory.observe(say("I play the cello", "My cat is called Miso"), **S)
        memory.flush()
        memory.forget(user_id="maya", query="cello")
        memory.delete(secret.id, user_id="maya")
        with memory.sessions.open(**S, window=8_000) as session:
            session.push(user="What about tea?", assistant="Green tea.")
            session.payload("And now?")
            session.checkpoint("trip", Task).save(Task(step="book"))
        memory.profile.update({"work_context": "Engineer"}, user_id="ida")
        memory.items.put(("team",), "limits", {"most": 3}, user_id="lee")
        memory.sessions.configure(user_id="lee", session_id="s9", language="de")
        memory.flush()


def told(settings: Settings) -> dict[str, Any]:
    """Return what a store tells of all users."""
    with opened(settings) as memory:
        facts = memory.list(user_id="maya", limit=None)
        with memory.sessions.open(**S, window=8_000) as session:
            task = session.checkpoint("trip", Task).load()
            window = session.messages
        return {
            "users": memory.admin.users(),
            "records": [list(memory.transfer.export(user_id=user)) for user in USERS],
            "facts": facts,
            "versions": [memory.history.versions(fact.id, user_id="maya") for fact in facts],
            "profiles": [memory.profile.get(user_id=user) for user in USERS],
            "items": memory.items.list(user_id="lee"),
            "events": list(memory.events.list(after=0)),
            "deleted": memory.admin.stats().deleted,
            "found": [hit.fact.id for hit in memory.search("Where at home?", user_id="maya")],
            "window": window,
            "task": task,
            "unembedded": memory.admin.stats().unembedded,
        }


def at(url: str, settings: Settings) -> Settings:
    return settings.model_copy(update={"store": StoreSettings(url=SecretStr(url))})


def test_a_store_that_went_to_a_database_and_back_is_the_same(
    here: Settings, url: str, tmp_path: Path
) -> None:
    before = told(here)
    files = {path: path.read_bytes() for path in here.data_dir.rglob("sessions/*/*")}
    moved = move_store(here, url)
    assert (moved.users, moved.sessions, moved.unknown_logs) == (3, 2, 0)
    assert {path: path.read_bytes() for path in here.data_dir.rglob("sessions/*/*")} == files
    there = at(url, here)
    assert told(there) == before
    back = here.model_copy(update={"data_dir": tmp_path / "back"})
    assert move_store(there, str(back.data_dir)).rows >= moved.rows
    assert told(back) == before
    assert told(here) == before


def test_what_is_written_after_a_move_continues_the_numbers(here: Settings, url: str) -> None:
    move_store(here, url)
    with opened(at(url, here)) as memory:
        last = memory.events.list(after=0).next
        added = memory.add("Plays chess", user_id="maya")
        memory.observe([{"role": "user", "content": "I moved to Faro"}], **S)
        assert memory.events.list(after=last)[0].memory_id == added.id
        assert memory.sessions.messages(**S)[-1].content == "I moved to Faro"
        assert memory.search("chess", user_id="maya")[0].fact.id == added.id
        memory.flush()  # a check tells of work that waits
        assert [finding for finding in memory.admin.check() if not finding.ok] == []


def test_an_encrypted_store_is_moved_in_plain_text_and_encrypted_back(
    tmp_path: Path, url: str
) -> None:
    key = EncryptionSettings(key=SecretStr(new_key()))
    here = Settings(
        data_dir=tmp_path / "here", encryption=key, upkeep=UpkeepSettings(schedule=False)
    )
    fill(here)
    before = told(here)
    move_store(here, url)
    back = here.model_copy(update={"data_dir": tmp_path / "back"})
    move_store(at(url, here), str(back.data_dir))
    assert told(back) == before
    assert not [path for path in back.data_dir.rglob("*.jsonl") if b"Miso" in path.read_bytes()]


def test_a_move_that_was_cut_off_is_not_opened_and_can_be_finished(
    here: Settings, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = told(here)
    copy_user = copying.copy_user

    def cut_off(*parts: Any) -> None:
        if parts[2] == "maya":
            raise KeyboardInterrupt
        copy_user(*parts)

    monkeypatch.setattr("semantic_memory.application.moving.copy_user", cut_off)
    with pytest.raises(KeyboardInterrupt):
        move_store(here, url)
    with pytest.raises(ConfigurationError, match="was cut off"):
        opened(at(url, here))
    other = here.model_copy(update={"data_dir": here.data_dir.with_name("other")})
    opened(other).close()
    with pytest.raises(ConfigurationError, match="a part of another one"):
        move_store(other, url)
    monkeypatch.undo()
    move_store(here, url)
    assert told(at(url, here)) == before


def interrupted() -> None:
    raise KeyboardInterrupt


def test_a_target_with_a_store_is_left_alone(here: Settings, url: str) -> None:
    with opened(at(url, here)) as memory:
        memory.add("Somebody else", user_id="eve")
    with pytest.raises(ConfigurationError, match="name a target that is empty"):
        move_store(here, url)
    with opened(at(url, here)) as memory:
        assert memory.admin.users() == ["eve"]


def test_what_differs_in_the_end_is_named(
    here: Settings, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave_out(source: Any, target: Any, user_id: str, offsets: Any) -> None:
        copying.copy_user(source, target, user_id, offsets)
        with target.connections.transaction() as db:
            db.execute("DELETE FROM items")

    monkeypatch.setattr("semantic_memory.application.moving.copy_user", leave_out)
    with pytest.raises(StoreCorruptError, match=r"differs from .* in items"):
        move_store(here, url)


def test_places_of_one_kind_and_missing_stores_are_refused(here: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="of one kind"):
        move_store(here, str(tmp_path / "copy"))
    nowhere = here.model_copy(update={"data_dir": tmp_path / "nowhere"})
    with pytest.raises(NotFoundError):
        move_store(nowhere, "postgresql://localhost/none")


def test_the_command_takes_the_keys_along(here: Settings, url: str) -> None:
    cli = Cli(here.data_dir)
    key = cli.json("keys", "create", "bot", "-u", "*")["id"]
    moved = cli.json("admin", "migrate", "--to", url)
    assert moved["users"] == len(USERS)
    assert key in cli("keys", "list", "--data-dir", url).stdout


def test_a_move_that_ends_before_the_keys_are_copied_can_be_finished(
    here: Settings, url: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        move_store(here, url, beside=interrupted)
    with pytest.raises(ConfigurationError, match="was cut off"):
        opened(at(url, here))
    called: list[bool] = []
    move_store(here, url, beside=lambda: called.append(True))
    assert called == [True]


def test_a_move_from_another_schema_does_not_go_on_with_this_one(
    here: Settings, url: str, postgres_server: postgres.Server, tmp_path: Path
) -> None:
    back = tmp_path / "back"
    move_store(here, url)
    other = at(postgres_server.emptied("moving_too"), here)
    with pytest.raises(KeyboardInterrupt):
        move_store(at(url, here), str(back), beside=interrupted)
    with pytest.raises(ConfigurationError, match="a part of another one"):
        move_store(other, str(back))


def test_checkpoints_of_sessions_without_messages_are_moved_or_counted(
    here: Settings, url: str, tmp_path: Path
) -> None:
    with opened(here) as memory, memory.sessions.open(user_id="ned", session_id="s1") as session:
        session.checkpoint("trip", Task).save(Task(step="book"))
    moved = move_store(here, url)
    assert (moved.unknown_logs, moved.unknown_states) == (0, 1)
    there = at(url, here)
    with opened(there) as memory, memory.sessions.open(user_id="ned", session_id="s1") as session:
        session.checkpoint("trip", Task).save(Task(step="pay"))
    back = here.model_copy(update={"data_dir": tmp_path / "back"})
    assert move_store(there, str(back.data_dir)).unknown_states == 0
    with opened(back) as memory, memory.sessions.open(user_id="ned", session_id="s1") as session:
        assert session.checkpoint("trip", Task).load() == Task(step="pay")
