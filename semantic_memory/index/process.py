"""Chroma in a process of its own, called like an index in this one."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, cast

from semantic_memory.changes import Matrix
from semantic_memory.errors import IndexBrokenError
from semantic_memory.models import NO_FILTERS, Filters
from semantic_memory.ports import IndexEntry, Match

_CALL_SECONDS = 600.0
_END_SECONDS = 60.0


class ChromaProcess:
    """A `VectorIndex` that passes each call to a worker process and waits for the answer.

    Starting it takes about a second (importing chromadb). Raises IndexBrokenError if the index is
    damaged, refuses a call, or takes the worker down.
    """

    def __init__(self, directory: Path, generation: str, sync_threshold: int) -> None:
        self._lock = threading.Lock()
        self._connection, theirs = Pipe()
        command = [sys.executable, "-m", "semantic_memory.index.worker"]
        arguments = [str(theirs.fileno()), str(directory), generation, str(sync_threshold)]
        self._process = subprocess.Popen(  # noqa: S603 - our own module, our own arguments
            [*command, *arguments],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        try:
            self._receive()
        except IndexBrokenError:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace."""
        self._call("upsert", list(entries))

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Take out."""
        self._call("delete", list(fact_ids))

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """The nearest memories."""
        found = self._call("query", vector, user_id=user_id, limit=limit, filters=filters)
        return cast("list[Match]", found)

    def count(self) -> int:
        """Number of memories held."""
        return int(self._call("count"))

    def ids(self) -> set[str]:
        """Ids of all memories held."""
        return cast("set[str]", self._call("ids"))

    def owns(self, user_id: str) -> bool:
        """Whether a user has a collection of their own."""
        return bool(self._call("owns", user_id))

    def own(self, user_id: str) -> None:
        """Give a user a collection of their own."""
        self._call("own", user_id)

    def close(self) -> None:
        """Let the worker finish what it does, and end it."""
        with self._lock:
            self._connection.close()
            try:
                self._process.wait(timeout=_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            try:
                self._connection.send((method, args, kwargs))
            except OSError as error:
                raise IndexBrokenError(self._obituary()) from error
            return self._receive()

    def _receive(self) -> Any:
        try:
            if not self._connection.poll(_CALL_SECONDS):
                self._process.kill()
                raise IndexBrokenError(f"it did not answer within {_CALL_SECONDS:.0f} s")
            succeeded, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise IndexBrokenError(self._obituary()) from error
        if not succeeded:
            raise IndexBrokenError(str(answer))
        return answer

    def _obituary(self) -> str:
        code = self._process.wait(timeout=_END_SECONDS)
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}"
