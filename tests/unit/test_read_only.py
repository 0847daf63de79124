"""A store in a directory that can't be written: it is read, and says that it takes no change."""

import logging
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from semantic_memory import (
    ConfigurationError,
    Message,
    SemanticMemory,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.application.private_files import write_key
from semantic_memory.ledger.lock import ReadingLock
from semantic_memory.settings import Settings
from semantic_memory.testing import HashEmbedder
from tests.support.command_line import Cli

U = {"user_id": "anna"}
S = {"user_id": "anna", "session_id": "s1"}


@contextmanager
def unwritable(directory):
    """Take all rights to write below a directory; root's by a read-only file system."""
    if os.geteuid():
        directory.chmod(0o500)
        yield
        directory.chmod(0o700)
        return
    command = ["mount", "--bind", "-r", directory, directory]
    if not sys.platform.startswith("linux") or subprocess.run(command, check=False).returncode:
        pytest.skip("this machine mounts no read-only file systems")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


def opened(store, **parts):
    return SemanticMemory.open(store, embedder=HashEmbedder(), **parts)


def fill(memory):
    memory.observe([Message(id="m1", role="user", content="I keep bees in Leeds.")], **S)
    memory.add("Likes green tea", **U)
    memory.profile.update({"diet": "Eats no pork."}, **U)
    memory.flush()


def reads(memory):
    """Check that whatever reads works; what was told last may not have been stored yet."""
    assert "Likes green tea" in {hit.fact.content for hit in memory.search("green tea", **U)}
    assert {"Likes green tea", "I keep bees in Leeds."} <= {one.content for one in memory.list(**U)}
    assert "green tea" in memory.context("What tea?", **U).text
    assert next(one.id for one in memory.sessions.messages(**S)) == "m1"
    assert "pork" in str(memory.profile.get(**U))
    assert any("green tea" in str(line) for line in memory.transfer.export(**U))
    fact = memory.list(**U)[0]
    assert memory.get(fact.id) == fact
    assert memory.history.versions(fact.id)
    assert memory.history.explain(fact.id)
    assert memory.admin.stats().memories
    assert memory.sessions.list(**U)
    assert memory.profile.tags(**U)
    assert memory.history.audit(**U) == []
    assert memory.forget(**U, query="green tea", dry_run=True)
    return fact


def writes(memory, fact):
    """Return the verbs that write."""
    return [
        lambda: memory.observe([Message(role="user", content="More")], **S),
        lambda: memory.add("More", **U),
        lambda: memory.update(fact.id, content="Less"),
        lambda: memory.profile.update({"diet": "Eats all."}, **U),
        lambda: memory.forget(**U, everything=True),
        lambda: memory.delete(fact.id),
        lambda: memory.items.put(["notes"], "one", {"a": 1}, **U),
        lambda: memory.sessions.create(**U),
        lambda: memory.jobs.run(["decay"]),
    ]


def test_a_store_that_cannot_be_written_is_read_and_refuses_changes(tmp_path, caplog):
    store = tmp_path / "store"
    with opened(store) as memory:
        fill(memory)
    before = {path: path.stat().st_mtime_ns for path in sorted(store.rglob("*"))}
    with unwritable(store), caplog.at_level(logging.WARNING):
        with opened(store) as memory:
            (said,) = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
            assert f"the store in {store} is open to read only" in said
            fact = reads(memory)
            for write in writes(memory, fact):
                with pytest.raises(StoreUnavailableError, match="open to read only"):
                    write()
            reads(memory)
            (finding,) = [one for one in memory.admin.check() if not one.ok]
            assert "open to read only" in finding.detail
        with opened(store) as one, opened(store) as other:  # nobody may write, so all may read
            reads(one)
            reads(other)
    assert {path: path.stat().st_mtime_ns for path in sorted(store.rglob("*"))} == before
    with opened(store) as memory:
        memory.add("More", **U)


def test_a_store_that_a_kill_left_is_read_with_all_of_its_ledger(tmp_path):
    store, copy = tmp_path / "store", tmp_path / "copy"
    with opened(store) as memory:
        fill(memory)
        shutil.copytree(store, copy)
        (copy / "ledger.sqlite3-shm").unlink()
    log = next((copy / "sessions").rglob("*.jsonl"))
    with log.open("ab") as file:
        file.write(b'{"torn')
    assert (copy / "ledger.sqlite3-wal").stat().st_size
    with unwritable(copy), opened(copy) as memory:
        reads(memory)


def test_an_encrypted_store_is_read(tmp_path):
    write_key(tmp_path / "key")
    settings = Settings(encryption={"key_file": tmp_path / "key"})
    store = tmp_path / "store"
    with opened(store, settings=settings) as memory:
        fill(memory)
    with unwritable(store):
        with opened(store, settings=settings) as memory:
            reads(memory)
        with pytest.raises(ConfigurationError, match="encrypted"):
            opened(store)


def test_what_the_ledger_has_not_taken_in_is_left_for_later(tmp_path):
    store = tmp_path / "store"
    with opened(store) as memory:
        fill(memory)
    with opened(store, settings=Settings(ingest={"background": False})) as memory:
        memory.observe([Message(id="m2", role="user", content="I sold the bees.")], **S)
    with unwritable(store), opened(store) as memory:
        reads(memory)
        assert [one.id for one in memory.sessions.messages(**S)] == ["m1", "m2"]
        assert "I sold the bees." not in {one.content for one in memory.list(**U)}
        (finding,) = [one for one in memory.admin.check() if one.check == "messages"]
        assert not finding.ok
    with opened(store) as memory:
        assert "I sold the bees." in {one.content for one in memory.list(**U)}


def test_a_directory_without_a_store_is_an_error(tmp_path):
    with unwritable(tmp_path), pytest.raises(StoreUnavailableError, match="can't"):
        opened(tmp_path)


def test_a_store_that_another_process_writes_is_locked(tmp_path):
    store = tmp_path / "store"
    with opened(store) as memory:
        fill(memory)
        with pytest.raises(StoreLockedError, match="another process"):
            ReadingLock(store)
    lock = ReadingLock(store)
    with pytest.raises(StoreLockedError):
        opened(store, settings=Settings(lock_seconds=0.0))
    lock.release()
    opened(store).close()


def test_it_is_not_shared(tmp_path):
    store = tmp_path / "store"
    with opened(store) as memory:
        fill(memory)
    with unwritable(store), pytest.raises(StoreUnavailableError, match=r"SemanticMemory\.open"):
        SemanticMemory.connect(store, embedder=HashEmbedder())


def test_the_command_line_reads_it_and_says_so(tmp_path):
    cli = Cli(tmp_path / "store")
    cli("add", "Likes green tea", "--user", "anna")
    with unwritable(cli.store):
        done = cli.process("search", "tea", "--user", "anna")
        assert "Likes green tea" in done.stdout
        assert "open to read only" in done.stderr
        for line in done.stderr.splitlines():
            assert "Traceback" not in line
        assert "Likes green tea" in cli("transfer", "export", "--user", "anna").stdout
        refused = cli("add", "More", "--user", "anna", code=1)
        assert "open to read only" in refused.stderr
