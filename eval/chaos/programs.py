"""Programs of a run that are killed and started again: the proxy, workers, Chroma's server."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx

from eval.chaos.postgres import PostgresServer

WORKERS = 3
"""Workers that the proxy's configuration names."""
_START_SECONDS = 120.0


class Program:
    """A program of this machine, of which one process runs at a time."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        answers: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`answers` returns True once it can be used; nothing runs yet."""
        self.name = name
        self._command = command
        self._log = log
        self._answers = answers
        self._environment = os.environ | dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of its process, which runs."""
        if self._process is None:
            raise RuntimeError(f"{self.name} doesn't run")
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """True if it ended by itself, and wasn't killed."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        """Start it, and don't wait for it."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # programs named here
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait(self) -> None:
        """Wait until it can be used. Raises RuntimeError if it ends or takes too long."""
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} didn't start: {self._said()}")
            time.sleep(0.05)

    def freeze(self) -> None:
        """Stop it where it is, as a machine does that is out of breath; `thaw` lets it go on."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Kill it, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _said(self) -> str:
        return self._log.read_text(errors="replace")[-2_000:]


class Database:
    """The PostgreSQL server as a part that is killed and started again."""

    name = "postgres"

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    @property
    def pid(self) -> int:
        """The id of its first process, which runs."""
        return self._server.pid

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._server.start()

    def wait(self) -> None:
        """Return at once, as `start` has waited."""

    def kill(self) -> None:
        """End it as a kill would: nothing is finished or written."""
        self._server.stop("immediate")


Part = Program | Database


def free_ports(number: int) -> list[int]:
    """Return ports of the loopback address that nobody listens at."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def haproxy() -> str | None:
    """Return HAProxy, which the variable HAPROXY may name; None where there is none."""
    return os.environ.get("HAPROXY") or shutil.which("haproxy")


def chroma(port: int, directory: Path) -> Program:
    """Return a Chroma server over a directory."""
    program = str(Path(sys.executable).with_name("chroma"))
    command = [program, "run", "--path", str(directory), "--host", "127.0.0.1"]
    return Program(
        "chroma",
        [*command, "--port", str(port)],
        directory.with_suffix(".log"),
        lambda: succeeds(f"http://127.0.0.1:{port}/api/v2/heartbeat"),
    )


def worker(number: int, port: int, directory: Path, environment: Mapping[str, str]) -> Program:
    """Return a worker of the service; `directory` is for its data directory and its log."""
    name = f"worker-{number}"
    serve = [sys.executable, "-m", "semantic_memory.entrypoints.cli", "serve"]
    return Program(
        name,
        [*serve, "--host", "127.0.0.1", "--port", str(port)],
        directory / f"{name}.log",
        lambda: succeeds(f"http://127.0.0.1:{port}/readyz"),
        {**environment, "SEMANTIC_MEMORY_DATA_DIR": str(directory / name)},
    )


def proxy(program: str, configuration: Path, port: int, ports: Sequence[int], log: Path) -> Program:
    """Return HAProxy with the configuration that is deployed, before workers at `ports`."""
    workers = {f"WORKER_{place}": f"127.0.0.1:{one}" for place, one in enumerate(ports, start=1)}
    return Program(
        "proxy",
        [program, "-f", str(configuration)],
        log,
        lambda: succeeds(f"http://127.0.0.1:{port}/readyz"),
        {**workers, "LISTEN": f"127.0.0.1:{port}"},
    )


def succeeds(url: str) -> bool:
    """Return True if a request is answered, and not with an error."""
    try:
        return httpx.get(url, timeout=5.0).is_success
    except httpx.TransportError:
        return False
