"""Failing disks: no acknowledged write is lost, none is half written; the error says so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import StoreError, StoreUnavailableError
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import say

ROOT = Path(__file__).parent.parent.parent
U: dict[str, Any] = {"user_id": "u1"}
S: dict[str, Any] = {"user_id": "u1", "session_id": "s1"}


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.refused", str(tmp_path / "store")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


Mount = Callable[[str], None]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Mount]]:
    """Mount a disk of 3 MB; return it with a function that remounts it."""
    path = tmp_path / "disk"
    path.mkdir()

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"can't mount a small disk: {done.stderr.strip()}")

    mount("size=3m")
    try:
        yield path, mount
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def opened(path: Path) -> SemanticMemory:
    return SemanticMemory.open(path / "store", embedder=HashEmbedder(), index=InMemoryIndex())


def test_a_disk_that_fills_up_and_is_freed_again(small_disk: tuple[Path, Mount]) -> None:
    path, _ = small_disk
    taken: list[str] = []

    def fill(memory: SemanticMemory) -> None:
        for number in range(600):
            memory.observe(say(f"{number} " + "word " * 1_000, start=number), **S)
            taken.append(f"m{number}")

    with opened(path) as memory, pytest.raises(StoreError, match="free"):
        fill(memory)
    assert len(taken) > 10  # 13 if each is stored before the next comes
    subprocess.run(["mount", "-o", "remount,size=30m", str(path)], check=True)
    with opened(path) as memory:
        memory.flush()
        assert [message.id for message in memory.sessions.messages(**S)] == taken
        kept = memory.list(**U, limit=None, filters={"categories": ["conversation"]})
        assert {fact.source.message_ids[0] for fact in kept} == {*taken}
        assert [finding for finding in memory.admin.check() if not finding.ok] == []


def test_a_disk_that_becomes_read_only(small_disk: tuple[Path, Mount]) -> None:
    path, _ = small_disk
    subprocess.run(["mount", "-o", "remount,size=30m", str(path)], check=True)
    with opened(path) as memory:
        memory.observe(say("One"), **S)
        memory.add("Likes tea", **U)
        memory.flush()
    subprocess.run(["mount", "-o", "remount,ro", str(path)], check=True)
    with opened(path) as memory:
        assert {fact.content for fact in memory.list(**U)} == {"One", "Likes tea"}
        with pytest.raises(StoreUnavailableError, match=str(path)):
            memory.add("Likes coffee", **U)
    subprocess.run(["mount", "-o", "remount,rw", str(path)], check=True)
    with opened(path) as memory:
        assert {fact.content for fact in memory.list(**U)} == {"One", "Likes tea"}
