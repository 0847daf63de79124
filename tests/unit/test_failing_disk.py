"""Findings of the courses of `tests/faults`, each as a case of its own."""

import errno
import shutil
import sqlite3
from typing import Any

import pytest
from pydantic import BaseModel

from semantic_memory import SemanticMemory, StoreCorruptError, StoreUnavailableError, repair
from semantic_memory.bootstrap import Parts, build
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Add
from semantic_memory.domain.files import delete_files
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import make_fact, say

S = {"user_id": "anna", "session_id": "s1"}
U = {"user_id": "anna"}


class Note(BaseModel):
    text: str


class BadDisk(SystemDisk):
    """A disk on which some calls fail."""

    def __init__(self):
        self.refused = set()
        self.connections = []

    def remove(self, path):
        if "remove" in self.refused:
            raise OSError(errno.EIO, "Input/output error")
        super().remove(path)

    def truncate(self, file, size):
        if "truncate" in self.refused:
            raise OSError(errno.EIO, "Input/output error")
        super().truncate(file, size)

    def sync(self, file):
        if "sync" in self.refused:
            raise OSError(errno.EIO, "Input/output error")
        super().sync(file)

    def connect(self, path):
        self.connections.append(super().connect(path))
        return self.connections[-1]


@pytest.fixture
def disk():
    return BadDisk()


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def open_on(store, disk):
    opened = []

    def open_it():
        settings = Settings(
            data_dir=store,
            ingest=IngestSettings(background=False),
            upkeep=UpkeepSettings(schedule=False),
        )
        parts = Parts(HashEmbedder(), index=InMemoryIndex(), clock=FrozenClock(), disk=disk)
        opened.append(SemanticMemory(build(settings, parts)))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


def contents(memory):
    return [one.content for one in memory.sessions.messages(**S)]


@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_message_after_a_forgotten_session_outlives_its_log(open_on, disk, all_of_them):
    memory = open_on()
    memory.observe(say("Old"), **S)
    memory.observe(say("Older"), user_id="anna", session_id="s0")
    memory.flush()
    disk.refused = {"remove"}
    with pytest.raises(StoreUnavailableError):
        memory.forget(**(U if all_of_them else S), everything=all_of_them)
    with pytest.raises(StoreUnavailableError):  # it would go with the rest of the log
        memory.observe(say("Too early", start=2), **S)
    disk.refused = set()
    memory.observe(say("New", start=3), **S)
    memory.flush()
    assert contents(memory) == ["New"]
    memory.close()
    again = open_on()
    again.flush()
    assert contents(again) == ["New"]
    assert "Old" not in {one.content for one in again.list(**U)}


def test_after_a_transaction_that_failed_the_ledger_writes_by_a_new_connection(tmp_path):
    connections = Connections(tmp_path / "ledger.sqlite3", print, SystemDisk())
    with pytest.raises(Exception, match="nonsense"), connections.transaction() as first:
        first.execute("INSERT INTO nonsense VALUES (1)")
    with connections.transaction() as second:
        assert second is not first
        assert second.execute("PRAGMA secure_delete").fetchone() == (1,)
    connections.close()


def test_an_opening_that_fails_leaves_no_connection(tmp_path, disk):
    (tmp_path / "watermark").mkdir()
    with pytest.raises(StoreUnavailableError):
        SqliteLedger(tmp_path / "ledger.sqlite3", disk=disk)
    assert disk.connections
    for connection in disk.connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


@pytest.mark.parametrize(
    "damage",
    [
        "content = CAST(x'54656180' AS TEXT)",
        "category = 'Rotten!'",
        "detail = '{'",
        "created_at = 9e18",
        'body = \'{"kind": "Tea"}\'',
    ],
)
def test_a_damaged_record_is_an_error_of_the_store_that_quotes_nothing(open_on, store, damage):
    memory = open_on()
    memory.add("Tea", **U)
    with sqlite3.connect(store / "ledger.sqlite3") as db:
        db.execute(f"UPDATE facts SET {damage}")
    db.close()
    with pytest.raises(StoreCorruptError, match="semantic-memory admin recover") as caught:
        memory.list(**U)
    assert "Tea" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_refused_commits_are_tried_again_in_silence(tmp_path, caplog, capfd):
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger(path)
    intruder = sqlite3.connect(path, isolation_level=None)
    with ledger._connections.transaction() as db:  # noqa: SLF001 - the time-out is 10 s
        db.execute("PRAGMA busy_timeout = 1")
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        ledger.apply([Add(make_fact(1))])
    intruder.close()
    ledger.close()
    assert not caplog.records
    assert capfd.readouterr().err == ""


def test_the_last_session_that_was_forgotten_stays_so_after_a_recovery(open_on, store, tmp_path):
    memory = open_on()
    memory.observe(say("The gate code is 4711"), **S)
    memory.flush()
    memory.close()
    shutil.copy(store / "ledger.sqlite3", tmp_path / "backup")
    memory = open_on()
    memory.forget(**S)
    memory.close()
    shutil.copy(tmp_path / "backup", store / "ledger.sqlite3")
    repair.recover(store, embedder=HashEmbedder(), index=InMemoryIndex())
    assert not open_on().list(**U)


def test_refused_messages_that_the_disk_kept_are_taken_in(open_on, disk):
    memory = open_on()
    memory.observe(say("First"), **S)
    memory.flush()
    disk.refused = {"sync", "truncate"}
    with pytest.raises(StoreUnavailableError):
        memory.observe(say("Second", start=2), **S)
    disk.refused = set()
    memory.flush()
    assert contents(memory) == ["First", "Second"]
    assert [finding.check for finding in memory.admin.check() if not finding.ok] == []


def test_a_checkpoint_after_a_forgotten_session_outlives_its_log(open_on, disk):
    memory = open_on()
    memory.observe(say("Old"), **S)
    memory.flush()
    disk.refused = {"remove"}
    with pytest.raises(StoreUnavailableError):
        memory.forget(**S)
    with pytest.raises(StoreUnavailableError):  # what is saved now would go with the log
        memory.sessions.open(**S)
    disk.refused = set()
    memory.sessions.open(**S).checkpoint("task", Note).save(Note(text="new"))
    memory.observe(say("New", start=2), **S)
    assert memory.sessions.open(**S).checkpoint("task", Note).load() == Note(text="new")


@pytest.mark.parametrize("what", ["a topic", "a session", "everything"])
def test_state_that_can_not_be_deleted_is_an_error_and_goes_later(open_on, disk, store, what):
    memory = open_on()
    memory.observe(say("The gate code is 4711"), **S)
    memory.flush()
    memory.sessions.open(**S).checkpoint("task", Note).save(Note(text="4711"))
    directory = next(store.glob("working/*/*"))
    for name in ("window.json", "window.previous.json", "window.new"):
        (directory / name).write_text("4711")
    all_of_them: dict[str, dict[str, Any]] = {
        "a topic": {**U, "query": "gate code"},
        "a session": S,
        "everything": {**U, "everything": True},
    }
    forget = all_of_them[what]
    disk.refused = {"remove"}
    with pytest.raises(StoreUnavailableError, match="can't delete windows"):
        memory.forget(**forget)
    disk.refused = set()
    memory.close()
    open_on().close()
    assert not list(directory.rglob("window*"))
    tasks = list(store.glob("working/**/tasks/*"))
    assert bool(tasks) == (what == "a topic")  # an application's checkpoint is its own


def test_a_deletion_is_waited_for_even_if_an_earlier_attempt_did_it(tmp_path):
    waited = []

    class Forgetful(SystemDisk):
        def sync_directory(self, path):
            waited.append(path)
            if len(waited) == 1:
                raise OSError(errno.EIO, "Input/output error")

    file = tmp_path / "log"
    file.touch()
    with pytest.raises(OSError, match="Input/output"):
        delete_files(Forgetful(), tmp_path, [file])
    delete_files(Forgetful(), tmp_path, [file])
    assert waited == [tmp_path, tmp_path]


def test_a_session_that_was_forgotten_and_begun_anew_is_recovered_as_such(open_on, store, tmp_path):
    memory = open_on()
    memory.observe(say("The gate code is 4711"), **S)
    memory.flush()
    memory.close()
    shutil.copy(store / "ledger.sqlite3", tmp_path / "backup")
    memory = open_on()
    memory.forget(**S)
    memory.observe(say("I keep bees", start=2), **S)
    memory.close()
    shutil.copy(tmp_path / "backup", store / "ledger.sqlite3")
    repair.recover(store, embedder=HashEmbedder(), index=InMemoryIndex())
    again = open_on()
    again.flush()
    assert [fact.content for fact in again.list(**U) if "4711" in fact.content] == []
    assert "I keep bees" in [fact.content for fact in again.list(**U)]


def test_what_is_erased_leaves_no_free_page_and_no_slack(open_on, store):
    memory = open_on()
    for number in range(300):
        memory.add(f"Collects stamp number {number} {'of the series ' * 9}", **U)
    memory.forget(**U, query="stamp", force=True)
    (run,) = memory.jobs.run(["compact"])
    assert run.error is None
    memory.close()
    with sqlite3.connect(store / "ledger.sqlite3") as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    db.close()
    assert b"series" not in (store / "ledger.sqlite3").read_bytes()
