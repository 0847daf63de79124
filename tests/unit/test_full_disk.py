"""A store on a disk that is full, on a small file system of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from semantic_memory import Message, SemanticMemory, StoreUnavailableError
from semantic_memory.application.reserve import RESERVE, Reserve
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.events import WorkerFailed
from semantic_memory.domain.observers import log_event
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.stage import Outlook, Stage
from semantic_memory.testing import HashEmbedder
from tests.conftest import eventually

U = {"user_id": "anna"}
S = {"user_id": "anna", "session_id": "s1"}


@pytest.fixture
def small(tmp_path):
    """Return a directory on a file system of 24 MB."""
    directory = tmp_path / "small"
    directory.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid():
        pytest.skip("mounting a small file system takes root on Linux")
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", directory]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine mounts no file systems")
    yield directory
    subprocess.run(["umount", "-l", directory], check=True)


def opened(directory):
    return SemanticMemory.open(directory / "store", embedder=HashEmbedder())


def fill(directory):
    with (directory / "filling").open("ab") as file:
        for size in (65_536, 512):
            try:
                while True:
                    os.write(file.fileno(), bytes(size))
            except OSError:
                continue
    assert os.statvfs(directory).f_bavail == 0


def add_much(memory):
    for number in range(400):  # what a page has room for makes no file longer
        memory.add(f"{number} {'words ' * 2_000}", **U)


def told(directory):
    with opened(directory) as memory:
        memory.observe([Message(id="m1", role="user", content="The gate code is 4711.")], **S)
        memory.add("Likes green tea", **U)
        memory.add("Collects stamps", **U)
        memory.flush()


def test_a_full_disk_can_be_read_and_forgotten_from_and_takes_nothing_more(small, capfd):
    told(small)
    fill(small)
    for words, left in (("green tea", {"Collects stamps"}), ("stamps", set())):
        with opened(small) as memory:
            assert memory.search(words, **U)
            with pytest.raises(StoreUnavailableError, match="No space left"):
                memory.observe([Message(role="user", content="word " * 180_000)], **S)
            with pytest.raises(StoreUnavailableError, match="disk is full"):
                add_much(memory)
            memory.forget(**U, query=words)
            fill(small)  # the reserve is all that is left
            kept = {fact.content for fact in memory.list(**U, limit=None)}
            assert left <= kept
            assert not [text for text in kept if words in text.casefold()]
        fill(small)
    with opened(small) as memory:
        memory.forget(**S)
        assert not [hit for hit in memory.search("4711", **U) if "4711" in hit.fact.content]
    assert len(capfd.readouterr().err.splitlines()) < 20
    assert not [
        file.name
        for file in (small / "store" / "sessions").rglob("*.jsonl")
        if b"4711" in file.read_bytes()
    ]


def test_the_reserve_is_lent_and_filled_again(tmp_path):
    reserve, lent = Reserve(tmp_path, SystemDisk()), []
    reserve.keep()
    size = (tmp_path / RESERVE).stat().st_size

    def call():
        lent.append((tmp_path / RESERVE).exists())
        if lent == [True]:
            raise StoreUnavailableError("the disk is full")
        return "done"

    assert reserve.lend(call) == "done"
    assert lent == [True, False]
    assert (tmp_path / RESERVE).stat().st_size == size > 1_000_000


def test_without_a_reserve_the_error_is_told_at_once(tmp_path):
    calls = []

    def call():
        calls.append(1)
        raise StoreUnavailableError("the disk is full")

    with pytest.raises(StoreUnavailableError):
        Reserve(tmp_path, SystemDisk()).lend(call)
    assert len(calls) == 1


def test_a_failure_that_repeats_is_logged_once(events, caplog):
    class Failing(Stage[int]):
        @property
        def name(self) -> str:
            return "store"

        def pending(self) -> Iterator[int]:
            return iter(range(30))

        def run(self, item: int) -> float | None:
            raise StoreUnavailableError("the disk is full")

        def outlook(self) -> Outlook:
            return Outlook("storing", 0)

    runner = Runner(events.append, 0.01, threads=2)
    runner.add(Failing())
    runner.start()
    assert eventually(lambda: len(events) >= 30)
    runner.close()
    for event in events:
        log_event(event)
    assert all(isinstance(event, WorkerFailed) for event in events)
    assert len(caplog.records) == 1
