"""A ledger that is older than it was, or gone, is noticed, and recovered on request."""

import shutil
import sqlite3
from typing import Any

import pytest

from semantic_memory import LedgerBehindError, SemanticMemory, repair
from semantic_memory.testing import HashEmbedder
from tests.conftest import say

S = {"user_id": "anna", "session_id": "s1"}
U: Any = {"user_id": "anna"}


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def recovered(store):
    repair.recover(store, embedder=HashEmbedder())
    return SemanticMemory.open(store, embedder=HashEmbedder())


def killed(memory, store, target):
    """Copy a store as a killed process leaves it, with its write-ahead log."""
    shutil.copytree(store, target, ignore=shutil.ignore_patterns("lock", "owner.pid", "*-shm"))


def told(open_memory, *texts):
    memory = open_memory()
    memory.observe(say(*texts), **S)
    memory.flush()
    return memory


@pytest.mark.parametrize("left", ["nothing", "nothing at all", "an empty file"])
def test_a_ledger_that_is_gone_is_never_started_anew(open_memory, store, left):
    told(open_memory, "One").close()
    for file in store.glob("ledger.sqlite3*"):
        file.unlink()
    if left == "nothing at all":
        (store / "watermark").unlink()
        shutil.rmtree(store / "chroma", ignore_errors=True)
    if left == "an empty file":
        (store / "ledger.sqlite3").touch()
    for _ in range(2):
        with pytest.raises(
            LedgerBehindError, match=r"missing or empty.*semantic-memory admin recover"
        ):
            open_memory()
    with recovered(store) as memory:
        assert [hit.fact.content for hit in memory.search("one", **U)] == ["One"]


def test_a_store_of_which_nothing_could_be_recovered_opens(store):
    with SemanticMemory.open(store, embedder=HashEmbedder()) as memory:
        memory.add("Likes tea", **U)
        assert memory.admin.rebuild() == 1
    for file in store.glob("ledger.sqlite3*"):
        file.unlink()
    with recovered(store) as memory:
        assert memory.search("tea", **U) == []


@pytest.mark.parametrize("damage", ["deleted", "emptied", "flipped"])
def test_a_lost_end_of_the_ledger_is_noticed(open_memory, store, tmp_path, damage):
    memory = open_memory()
    fact = memory.add("Likes tea", **U)
    memory.observe(say("One", "Two"), **S)
    memory.flush()
    with sqlite3.connect(store / "ledger.sqlite3") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    memory.delete(fact.id)
    (message,) = [one for one in memory.list(**U) if one.content == "One"]
    memory.delete(message.id)
    copy = tmp_path / "copy"
    killed(memory, store, copy)
    wal = copy / "ledger.sqlite3-wal"
    assert wal.stat().st_size
    match damage:
        case "deleted":
            wal.unlink()
        case "emptied":
            wal.write_bytes(b"")
        case "flipped":
            data = bytearray(wal.read_bytes())
            data[40] ^= 1
            wal.write_bytes(data)
    for _ in range(2):
        with pytest.raises(LedgerBehindError, match="the end of it is lost"):
            SemanticMemory.open(copy, embedder=HashEmbedder())
    with recovered(copy) as again:
        assert [one.content for one in again.list(**U) if one.content == "One"] == []
        assert [one.content for one in again.list(**U) if one.content == "Two"] == ["Two"]


def test_recovering_forgets_again_what_the_logs_know_as_forgotten(open_memory, store, tmp_path):
    memory = open_memory()
    memory.observe(say("I live in Rome. My cat is called Pixel.", "Paint it green"), **S)
    memory.observe(say("The gate code is 4711"), user_id="anna", session_id="s2")
    memory.flush()
    memory.close()
    shutil.copy(store / "ledger.sqlite3", tmp_path / "backup")
    memory = open_memory()
    memory.forget(query="cat", **U)
    memory.forget(session_id="s2", **U)
    (green,) = [one for one in memory.list(**U) if one.content == "Paint it green"]
    memory.delete(green.id)
    memory.flush()
    stands = sorted(one.content for one in memory.list(**U))
    memory.close()
    shutil.copy(tmp_path / "backup", store / "ledger.sqlite3")
    with recovered(store) as memory:
        assert sorted(one.content for one in memory.list(**U)) == stands
        assert not [finding for finding in memory.admin.check() if not finding.ok]


def test_a_recovery_cut_off_half_way_starts_again(open_memory, store, tmp_path, monkeypatch):
    told(open_memory, "One").close()
    shutil.copy(store / "ledger.sqlite3", tmp_path / "backup")
    told(open_memory, "One", "Two").close()
    shutil.copy(tmp_path / "backup", store / "ledger.sqlite3")

    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("semantic_memory.application.recovery.Recovery._erase_again", killed)
        with pytest.raises(KeyboardInterrupt):
            repair.recover(store, embedder=HashEmbedder())
    with pytest.raises(LedgerBehindError):
        open_memory()
    with recovered(store) as memory:
        assert {one.content for one in memory.list(**U)} >= {"One", "Two"}


def test_an_older_ledger_is_noticed_by_the_index_alone(open_memory, store, tmp_path):
    memory = SemanticMemory.open(store, embedder=HashEmbedder())
    memory.add("Likes tea", **U)
    memory.flush()
    memory.close()
    shutil.copy(store / "ledger.sqlite3", tmp_path / "backup")
    memory = SemanticMemory.open(store, embedder=HashEmbedder())
    memory.add("Plays the cello", **U)
    memory.admin.rebuild()
    memory.close()
    shutil.copy(tmp_path / "backup", store / "ledger.sqlite3")
    (store / "watermark").unlink()
    with pytest.raises(LedgerBehindError, match="an older copy was put in its place"):
        SemanticMemory.open(store, embedder=HashEmbedder())


@pytest.mark.parametrize("damage", [b"", b"\0" * 30, b"99999999999999999999 00000000\n"])
def test_a_damaged_mark_alarms_nobody(open_memory, store, damage):
    told(open_memory, "One").close()
    (store / "watermark").write_bytes(damage)
    with open_memory() as memory:
        assert len(memory.list(**U)) == 1


def test_a_store_of_an_earlier_version_gets_its_mark(open_memory, store):
    told(open_memory, "One").close()
    (store / "watermark").unlink()
    open_memory().close()
    with sqlite3.connect(store / "ledger.sqlite3") as db:
        (changes,) = db.execute("SELECT sum(revision) FROM users").fetchone()
    assert int((store / "watermark").read_text().split()[0]) == changes
