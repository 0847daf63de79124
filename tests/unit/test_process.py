"""Chroma in a process of its own: starting it, sharing it, and its death."""

import os
import resource
import signal
import subprocess
import sys
import threading
from multiprocessing import Pipe
from pathlib import Path

import pytest
from filelock import FileLock

from semantic_memory.domain.errors import IndexBrokenError, IndexBusyError, IndexUnavailableError
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.vectors.chroma import process, worker
from semantic_memory.vectors.chroma.process import ChromaProcess
from tests.conftest import eventually, make_fact, unit_vectors
from tests.support.effort import rounds

MANY = rounds(full=2_000, quick=800)
ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.usefixtures("cold_chroma")


def entries(*numbers: int, windows: int = 1, dimension: int = 16) -> list[IndexEntry]:
    return [IndexEntry(make_fact(n), unit_vectors(windows, dimension, seed=n)) for n in numbers]


def start(directory: Path) -> ChromaProcess:
    return ChromaProcess(directory / "chroma", "g", 1_000)


def nearest(index: ChromaProcess, number: int) -> str:
    return index.query(unit_vectors(1, seed=number)[0], user_id="u1", limit=1)[0].id


# ---------------------------------------------------------------- starting


def test_no_such_interpreter_is_not_the_fault_of_the_index(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(IndexUnavailableError, match=r"can't be started: .*No such file"):
        start(tmp_path)


def test_an_import_that_fails_is_named_and_not_the_fault_of_the_index(tmp_path, monkeypatch):
    modules = tmp_path / "modules"
    (modules / "chromadb").mkdir(parents=True)
    (modules / "chromadb" / "__init__.py").write_text("import a_missing_library")
    monkeypatch.setenv("PYTHONPATH", str(modules), prepend=os.pathsep)
    with pytest.raises(IndexUnavailableError, match="No module named 'a_missing_library'"):
        start(tmp_path)


def test_a_predecessor_that_does_not_end_is_not_the_fault_of_the_index(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "_PREDECESSOR_SECONDS", 0.1)
    ours, theirs = Pipe()
    with ours, theirs, FileLock(tmp_path / "chroma.lock"):
        worker.serve(theirs, tmp_path / "chroma", "g", 1_000)
        outcome, reason = ours.recv()
    assert outcome == "unavailable"
    assert "doesn't end" in reason


def test_files_in_the_current_directory_stand_in_for_no_module(tmp_path, monkeypatch):
    for name in ("chromadb", "json", "filelock", "semantic_memory"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the current directory')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    index = start(tmp_path)
    assert index.count() == 0
    index.close()


@pytest.mark.parametrize("way", ["PYTHONPATH", "current directory"])
def test_the_worker_runs_the_package_that_started_it(tmp_path, way):
    """A link to the package stands for a checkout, which must win over an installed package."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "semantic_memory").symlink_to(ROOT / "semantic_memory")
    marker = "import os, sys; print(open(f'/proc/{index.pid}/cmdline').read())"
    script = (
        "from pathlib import Path;"
        "from semantic_memory.vectors.chroma.process import ChromaProcess;"
        f"index = ChromaProcess(Path({str(tmp_path / 'chroma')!r}), 'g', 100); {marker};"
        "print(index.count()); index.close()"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if way == "PYTHONPATH":
        environment["PYTHONPATH"] = str(checkout)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path if way == "PYTHONPATH" else checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(checkout / "semantic_memory" / "__init__.py") in done.stdout


# ---------------------------------------------------------------- dying


@pytest.fixture
def index(tmp_path):
    index = start(tmp_path)
    index.upsert(entries(1, 2, 3))
    yield index
    index.close()


def test_a_crash_is_the_fault_of_the_index(index):
    os.kill(index.pid, signal.SIGSEGV)
    with pytest.raises(IndexBrokenError, match="SIGSEGV"):
        index.count()


def test_being_killed_is_not(index, tmp_path):
    os.kill(index.pid, signal.SIGKILL)
    with pytest.raises(IndexUnavailableError, match="SIGKILL"):
        index.count()
    with pytest.raises(IndexUnavailableError, match="SIGKILL"):
        nearest(index, 1)
    index.close()
    again = start(tmp_path)
    assert again.ids() == {"fact-1", "fact-2", "fact-3"}
    assert nearest(again, 2) == "fact-2"
    again.close()


def test_running_out_of_memory_is_not_and_is_named(index, tmp_path):
    size = int(Path(f"/proc/{index.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(index.pid, resource.RLIMIT_AS, (size, size))
    with pytest.raises(IndexUnavailableError, match=r"(?i)memory|alloc"):
        index.upsert(entries(*range(10, 30), windows=100, dimension=384))
    index.close()
    again = start(tmp_path)
    assert nearest(again, 2) == "fact-2"
    again.close()


def test_a_call_that_fails_says_why(index):
    with pytest.raises(IndexBrokenError, match="dimension"):
        index.upsert(entries(4, dimension=32))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MemoryError(), "unavailable"),
        (PermissionError("no access"), "unavailable"),
        (RuntimeError("Query error: database or disk is full"), "unavailable"),
        (FileNotFoundError("data_level0.bin"), "broken"),
        (KeyError("windows"), "broken"),
        (RuntimeError("Failed to apply logs to the hnsw segment writer"), "broken"),
    ],
    ids=str,
)
def test_what_is_lacking_is_told_from_what_is_damaged(error, outcome):
    def fail() -> None:
        raise error

    found, reason = worker.attempt(fail)
    assert found == outcome
    assert type(error).__name__ in reason or "missing" in reason


# ---------------------------------------------------------------- sharing


def test_a_query_does_not_wait_for_a_long_call(index, monkeypatch):
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 0.05)
    os.kill(index.pid, signal.SIGSTOP)  # so that whatever is asked takes long
    counting = threading.Thread(target=index.count)
    counting.start()
    assert eventually(lambda: index.busy)
    with pytest.raises(IndexBusyError):
        nearest(index, 1)
    os.kill(index.pid, signal.SIGCONT)
    counting.join()
    assert nearest(index, 1) == "fact-1"


def test_queries_come_in_between_the_portions_of_a_bulk_write(index, monkeypatch):
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 20)
    monkeypatch.setattr(process, "_PORTION", 16)
    writing = threading.Thread(target=index.upsert, args=(entries(*range(10, MANY)),))
    writing.start()
    answered = 0
    while writing.is_alive():
        assert nearest(index, 1) == "fact-1"
        answered += 1
    writing.join()
    assert answered > 10
    assert index.count() == MANY - 7


def test_queries_come_in_between_the_steps_of_a_move(index, monkeypatch):
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 20)
    index.upsert(entries(*range(10, MANY)))
    moving = threading.Thread(target=index.own, args=("u1",))
    moving.start()
    answered = 0
    while moving.is_alive():
        assert nearest(index, 1) == "fact-1"
        answered += 1
    moving.join()
    assert answered > 5
    assert index.owns("u1")
    assert index.count() == MANY - 7


def test_closing_waits_for_the_call_under_way(index, tmp_path):
    os.kill(index.pid, signal.SIGSTOP)
    writing = threading.Thread(target=index.upsert, args=(entries(*range(10, 100)),))
    writing.start()
    assert eventually(lambda: index.busy)
    threading.Timer(0.2, os.kill, (index.pid, signal.SIGCONT)).start()
    index.close()
    writing.join()
    again = start(tmp_path)
    assert again.count() == 93
    again.close()


def test_filling_writes_the_same_in_larger_portions(tmp_path):
    index = start(tmp_path)
    index.fill(entries(*range(MANY), windows=2))
    assert index.count() == MANY
    assert nearest(index, 5) == "fact-5"
    index.close()
