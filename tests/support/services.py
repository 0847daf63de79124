"""`semantic-memory serve` in processes of their own, over a store in a database."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import eventually
from tests.support.processes import is_running

PATIENCE = 120.0  # seconds: the machine may be busy, and a model is loaded


class Service:
    """A running service; its store is at a URL, and its data directory stays empty."""

    def __init__(self, url: str, directory: Path, **settings: Any) -> None:
        """Start it on a free port, with settings of the section `service`."""
        self.port = _free_port()
        given = {"port": self.port, "log_format": "text", "drain_seconds": 2, **settings}
        service = {f"SEMANTIC_MEMORY_SERVICE__{key.upper()}": str(v) for key, v in given.items()}
        self.log = directory / f"{self.port}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "semantic_memory.entrypoints.cli", "serve"],
                env={
                    **os.environ,
                    **service,
                    "SEMANTIC_MEMORY_STORE__URL": url,
                    "SEMANTIC_MEMORY_DATA_DIR": str(directory / "data"),
                },
                stderr=log,
            )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE)

    def status(self) -> int:
        """Return the status of `/readyz`; 0 without an answer."""
        with suppress(httpx.TransportError):
            return self.client.get("/readyz").status_code
        return 0

    def ready(self) -> None:
        """Wait until it answers."""
        assert eventually(lambda: self.status() == 200, PATIENCE), self.log.read_text()

    def workers(self) -> list[int]:
        """Return the ids of the processes that it has started to serve."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):  # not a process, or ended meanwhile
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                spawned = b"--multiprocessing-fork" in (entry / "cmdline").read_bytes()
                if int(parent) == self.process.pid and spawned and is_running(int(entry.name)):
                    found.append(int(entry.name))
        return found

    def end(self) -> int:
        """Tell it to end; return its exit code."""
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """Kill it, if it still runs."""
        self.client.close()
        self.process.kill()
        self.process.wait(PATIENCE)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
