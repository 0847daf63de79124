"""Several processes that serve one listening socket, started again where they end.

They share the socket, so that a connection that waits while one of them ends is taken by another.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess

from semantic_memory.domain.errors import SemanticMemoryError

_logger = logging.getLogger("semantic_memory.service")
_spawning = multiprocessing.get_context("spawn")
_LOOK_SECONDS = 0.5
_STEADY_SECONDS = 60.0
"""Time after which a worker's earlier failures don't count."""
_LONGEST_PAUSE = 30.0  # seconds from a start to the next
_FIRST_PAUSE = 20.0  # after a first start in vain: by then the others have begun, or failed too
_GRACE_SECONDS = 10.0
"""Time for closing the store, beyond that for requests under way and for draining."""
FAILED = 3
"""Exit code of a worker that could not begin."""

Serving = Callable[[socket.socket], None]
"""Serves a listening socket until SIGTERM; it can be pickled."""


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    started: float
    failures: int
    """Number of processes that had its place before, without those before a steady one."""


class Workers:
    """A number of processes that serve a socket, until this one gets SIGTERM or SIGINT."""

    def __init__(
        self,
        serving: Serving,
        listener: socket.socket,
        number: int,
        drain_seconds: float,
        note_end: Callable[[int], None],
    ) -> None:
        """`note_end` is called with the id of a process that has ended by itself."""
        self._serving = serving
        self._listener = listener
        self._number = number
        self._patience = 2 * drain_seconds + _GRACE_SECONDS
        self._note_end = note_end
        self._ended = False

    def run(self) -> int:
        """Keep the workers running; return 0 in the end, or `FAILED` if none can begin at first.

        Where others run, or later, those that can't begin, as while the database is away, are
        tried again.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        workers = [self._started(failures=0) for _ in range(self._number)]
        try:
            while not self._ended:
                if all(map(_cannot_begin, workers)):
                    return FAILED
                workers = [self._mended(one) for one in workers]
                time.sleep(_LOOK_SECONDS)
        finally:
            self._stop([one.process for one in workers])
        return 0

    def _end(self, *_: object) -> None:
        self._ended = True

    def _started(self, failures: int) -> _Worker:
        process = _spawning.Process(target=_work, args=(self._serving, self._listener))
        process.start()
        return _Worker(process, time.monotonic(), failures)

    def _mended(self, worker: _Worker) -> _Worker:
        """Return a worker that runs, or one that has ended too soon to be started again now."""
        if worker.process.is_alive():
            return worker
        ran = time.monotonic() - worker.started
        failures = 1 if ran > _STEADY_SECONDS else worker.failures + 1
        pause = _FIRST_PAUSE if _cannot_begin(worker) else 2.0**worker.failures
        if ran < min(_LONGEST_PAUSE, pause):
            return worker
        _logger.warning(
            "worker %s ended with %s; another one starts",
            worker.process.pid,
            worker.process.exitcode,
        )
        if worker.process.pid is not None:
            self._note_end(worker.process.pid)
        return self._started(failures)

    def _stop(self, processes: list[SpawnProcess]) -> None:
        """Have the workers finish their requests, and kill those that take too long."""
        for process in processes:
            process.terminate()
        end = time.monotonic() + self._patience
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                _logger.warning("worker %s did not end, and is killed", process.pid)
                process.kill()
                process.join()


def _cannot_begin(worker: _Worker) -> bool:
    is_first = not worker.failures and time.monotonic() - worker.started < _STEADY_SECONDS
    return is_first and worker.process.exitcode == FAILED


def _work(serving: Serving, listener: socket.socket) -> None:
    """Serve in this process, and end with the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, for all processes at once
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serving(listener)
    except SemanticMemoryError as error:
        _logger.error("%s", error)
        sys.exit(FAILED)


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
