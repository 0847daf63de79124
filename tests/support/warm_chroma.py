"""Chroma workers that are forked from a process which has imported chromadb already.

A worker spends 1.5 s of CPU on that import. Tests that aren't about the start of a worker get the
same worker, in a process of its own, without it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import IO, Any

_MOST_BYTES = 65_536
_FDS = 2


class Nursery:
    """Starts workers by asking a process that forks them. It is started with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start_worker(self, arguments: Sequence[str], connection: int, errors: IO[bytes]) -> Worker:
        """Start a worker, like `start_worker` of `semantic_memory.vectors.chroma.process`."""
        asked = (str(Path.cwd()), tuple(arguments))
        return Worker(self, self.ask(asked, [connection, errors.fileno()]))

    def ask(self, request: Any, descriptors: Sequence[int] = ()) -> int:
        """Return the answer to a request: the id of a new process, or the exit code of one."""
        with self._lock:
            control = self._control or self._started()
            socket.send_fds(control, [bytes(ForkingPickler.dumps(request))], list(descriptors))
            return int(control.recv(_MOST_BYTES))

    def close(self) -> None:
        """End the process that forks, if it runs."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()

    def _started(self) -> socket.socket:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd=Path(__file__).parents[2],
            )
        return self._control


class Worker:
    """A forked worker, with what `subprocess.Popen` has of one."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.pid = pid
        self._nursery = nursery
        self._ended = os.pidfd_open(pid)
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code."""
        if self._code is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a Chroma worker", timeout or 0.0)
            self._code = self._nursery.ask(self.pid)
            os.close(self._ended)
        return self._code

    def kill(self) -> None:
        """Kill it."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def _serve(control: socket.socket) -> None:
    """Fork workers, and tell their exit codes, until the other side is closed."""
    import semantic_memory.vectors.chroma.index  # noqa: F401 - what takes the time
    from semantic_memory.vectors.chroma import worker

    while True:
        message, descriptors, _, _ = socket.recv_fds(control, _MOST_BYTES, _FDS)
        if not message:
            return
        request = ForkingPickler.loads(message)
        if isinstance(request, int):
            answer = os.waitstatus_to_exitcode(os.waitpid(request, 0)[1])
        else:
            answer = os.fork()
            if not answer:
                control.close()
                _work(worker.main, request, descriptors)
        for one in descriptors:
            os.close(one)
        control.send(str(answer).encode())


def _work(main: Any, request: tuple[str, Sequence[str]], descriptors: Sequence[int]) -> None:
    """Become a worker, as a new process would be one; never return."""
    code = 1
    try:
        directory, arguments = request
        connection, errors = descriptors
        os.setsid()
        os.chdir(directory)
        nothing = os.open(os.devnull, os.O_RDWR)
        for target, source in ((0, nothing), (1, nothing), (2, errors)):
            os.dup2(source, target)
        sys.argv = ["worker", *arguments, str(connection)]
        main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
