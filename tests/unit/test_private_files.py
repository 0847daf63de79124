"""All that a data directory holds is for its owner alone."""

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.application.private_files import make_private
from semantic_memory.domain.errors import ConfigurationError, StoreLockedError
from semantic_memory.domain.messages import Message
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.settings import Settings
from semantic_memory.testing import HashEmbedder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")


def modes(directory: Path) -> dict[str, int]:
    found = {
        ".": directory,
        **{str(path.relative_to(directory)): path for path in directory.rglob("*")},
    }
    return {name: stat.S_IMODE(path.lstat().st_mode) for name, path in found.items()}


def test_every_file_of_a_store_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        with SemanticMemory.open(tmp_path / "store", embedder=HashEmbedder()) as memory:
            message = Message(role="user", content="I live in Oslo.")
            memory.observe([message], user_id="u", session_id="s")
            memory.flush()
            memory.search("Oslo", user_id="u")
            memory.flush()  # Chroma has the user now
            found = modes(tmp_path / "store")
    finally:
        os.umask(before)
    assert any(name.startswith("chroma/") for name in found)
    assert "owner.pid" in found
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}


def test_wider_modes_are_tightened_at_opening(tmp_path):
    store = tmp_path / "store"
    SemanticMemory.open(store, embedder=HashEmbedder()).close()
    (store / "ledger.sqlite3").chmod(0o644)
    (store / "sessions").chmod(0o755)
    store.chmod(0o775)
    SemanticMemory.open(store, embedder=HashEmbedder()).close()
    assert {name for name, mode in modes(store).items() if mode & 0o077} == set()


def test_files_of_other_programs_keep_their_modes(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    project.chmod(0o755)
    (project / "page.html").touch()
    (project / "page.html").chmod(0o644)
    before = modes(project)
    SemanticMemory.open(project, embedder=HashEmbedder()).close()
    after = modes(project)
    assert {name: after[name] for name in before} == before
    assert {name for name in after.keys() - before.keys() if after[name] & 0o077} == set()


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o644)
    store = tmp_path / "store"
    make_private(store)
    (store / "sessions").symlink_to(outside)
    make_private(store)
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_a_mode_that_cannot_be_changed_is_refused(tmp_path, monkeypatch):
    store = tmp_path / "store"
    make_private(store)
    (store / "keys.json").touch()
    (store / "keys.json").chmod(0o644)  # whatever the umask

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(ConfigurationError, match=r"others may access .*keys.json.*chmod -R go-rwx"):
        make_private(store)


def test_a_lock_is_waited_for(tmp_path):
    first = DirectoryLock(tmp_path)
    start = time.monotonic()
    with pytest.raises(StoreLockedError, match=f"process {os.getpid()}, after a wait of 0.2 s"):
        DirectoryLock(tmp_path, patience=0.2)
    assert time.monotonic() - start >= 0.2
    first.release()
    DirectoryLock(tmp_path, patience=0.2).release()


def test_the_wait_for_the_lock_is_a_setting(tmp_path):
    settings = Settings(data_dir=tmp_path, lock_seconds=0.05)
    with (
        SemanticMemory.open(settings=settings, embedder=HashEmbedder()),
        pytest.raises(StoreLockedError, match=r"after a wait of 0\.05 s"),
    ):
        SemanticMemory.open(settings=settings, embedder=HashEmbedder())


def test_a_store_that_is_being_closed_can_be_opened(tmp_path):
    first = DirectoryLock(tmp_path)
    closing = threading.Timer(0.1, first.release)
    closing.start()
    DirectoryLock(tmp_path, patience=5.0).release()
    closing.join()
