"""Vector index that runs Chroma in a worker process."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import Pipe
from pathlib import Path
from typing import IO, Any, Protocol, cast

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import (
    IndexBrokenError,
    IndexBusyError,
    IndexUnavailableError,
    StoreError,
)
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, Match

_CALL_SECONDS = 600.0
_END_SECONDS = 60.0
_PATIENCE_SECONDS = 0.25  # wait of a query; longer than a portion takes
_PORTION = 128  # windows written, or memories deleted, at once: about 0.1 s
_FILLED_AT_ONCE = 2_000  # windows written at once while nobody queries: twice as many a second
_TAIL_BYTES = 2_000

_PACKAGE = str(Path(__file__).parents[2] / "__init__.py")

# The worker imports this very package by its path. `-P` keeps the current directory off the import
# path, where a file could shadow any module.
_START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("semantic_memory", sys.argv.pop(1))
package = sys.modules["semantic_memory"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from semantic_memory.vectors.chroma.worker import main
main()
"""

_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
_OUT_OF_MEMORY = ("MemoryError", "memory allocation of", "bad_alloc", "annot allocate memory")


class WorkerProcess(Protocol):
    """A process that was started, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Kill it."""


def start_worker(arguments: Sequence[str], connection: int, errors: IO[bytes]) -> WorkerProcess:
    """Start a worker on a file descriptor of its connection, with `errors` for what it prints."""
    return subprocess.Popen(  # noqa: S603 - our own code and arguments
        [sys.executable, "-P", "-c", _START, _PACKAGE, *arguments, str(connection)],
        pass_fds=[connection],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )


class ChromaProcess:
    """`VectorIndex` that passes each call to a worker process and waits for the answer.

    Starting the worker takes about a second, for importing chromadb. Methods raise IndexBrokenError
    if the index is damaged, rejects a call, doesn't answer, or crashes the worker while it loads;
    IndexUnavailableError if the worker can't start, dies, or lacks memory or disk; IndexBusyError
    if a query waits for more than 0.25 s.
    """

    copies = True

    def __init__(self, directory: Path, generation: str, sync_threshold: int) -> None:
        self._next = threading.Lock()  # its holder is served after the call under way
        self._busy = threading.Lock()
        self._loading = False
        arguments = [str(directory), generation, str(sync_threshold)]
        with ExitStack() as undo:
            try:
                self._errors = undo.enter_context(tempfile.TemporaryFile())
                self._connection, theirs = Pipe()
                undo.enter_context(self._connection)
                with theirs:
                    self._process = start_worker(arguments, theirs.fileno(), self._errors)
            except OSError as error:
                raise IndexUnavailableError(f"its process can't be started: {error}") from error
            undo.pop_all()
        try:
            self._receive()
            self._loading = True
            self._receive()
        except StoreError:
            self.close()
            raise

    @property
    def busy(self) -> bool:
        """True while a call is under way."""
        return self._busy.locked()

    @property
    def pid(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace entries in portions, between which queries are answered."""
        self._write(entries, _PORTION)

    def fill(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace entries in large portions, which hold queries up."""
        self._write(entries, _FILLED_AT_ONCE)

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete memories in portions, between which queries are answered."""
        for start in range(0, len(fact_ids), _PORTION):
            self._call("delete", list(fact_ids[start : start + _PORTION]))

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the user's nearest memories."""
        request = ("query", (vector,), {"user_id": user_id, "limit": limit, "filters": filters})
        with self._turn(_PATIENCE_SECONDS):
            return cast("list[Match]", self._answer(request))

    def count(self) -> int:
        """Return the number of memories in the index."""
        return int(self._call("count"))

    def ids(self) -> set[str]:
        """Return the ids of all memories in the index."""
        return cast("set[str]", self._call("ids"))

    def owns(self, user_id: str) -> bool:
        """Return True if a user has a collection of their own."""
        return bool(self._call("owns", user_id))

    def own(self, user_id: str) -> None:
        """Move a user to their own collection in portions, between which queries are answered."""
        while self._call("own_more", user_id):
            pass

    def close(self) -> None:
        """End the worker after its present call."""
        with self._turn():
            self._connection.close()
            self._end()
            self._errors.close()

    def _write(self, entries: Sequence[IndexEntry], most: int) -> None:
        """Send entries in portions of `most` windows, or a little more."""
        portion: list[IndexEntry] = []
        windows = 0
        for entry in entries:
            portion.append(entry)
            windows += len(entry.windows)
            if windows >= most:
                self._call("upsert", portion)
                portion, windows = [], 0
        if portion:
            self._call("upsert", portion)

    @contextmanager
    def _turn(self, patience: float = -1) -> Iterator[None]:
        """Hold the worker during a call. A waiting caller comes before the one just served."""
        if not self._next.acquire(timeout=patience):
            raise IndexBusyError("it is busy")
        try:
            if not self._busy.acquire(timeout=patience):
                raise IndexBusyError("it is busy")
        finally:
            self._next.release()
        try:
            yield
        finally:
            self._busy.release()

    def _call(self, method: str, *args: Any) -> Any:
        with self._turn():
            return self._answer((method, args, {}))

    def _answer(self, request: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
        try:
            self._connection.send(request)
        except OSError as error:
            raise self._death() from error
        return self._receive()

    def _receive(self) -> Any:
        try:
            if not self._connection.poll(_CALL_SECONDS):
                self._end(patience=0.0)
                raise IndexBrokenError(f"it did not answer within {_CALL_SECONDS:.0f} s")
            outcome, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._death() from error
        match outcome:
            case "broken":
                raise IndexBrokenError(answer)
            case "unavailable":
                raise IndexUnavailableError(answer)
        return answer

    def _end(self, patience: float = _END_SECONDS) -> int:
        """Wait for the process to end, and kill it if it doesn't; return its exit code."""
        try:
            return self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _death(self) -> StoreError:
        """Return the error for a process that died, by its exit code and last words."""
        code = self._end()
        if code < 0:
            reason = f"its process was ended by {signal.Signals(-code).name}"
        else:
            reason = f"its process ended with exit code {code}"
        if words := self._last_words():
            reason = f"{reason}: {words}"
        crashed = code > 0 or -code in _CRASHES
        if self._loading and crashed and not any(sign in reason for sign in _OUT_OF_MEMORY):
            return IndexBrokenError(reason)
        return IndexUnavailableError(reason)

    def _last_words(self) -> str:
        """Return the end of the process's standard error, on one line."""
        if self._errors.closed:
            return ""
        size = self._errors.seek(0, 2)
        self._errors.seek(max(0, size - _TAIL_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        return " | ".join(line.strip() for line in lines[-4:] if line.strip())
