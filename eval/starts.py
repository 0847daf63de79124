"""CPU seconds that each start of the program takes, until it can serve.

Every program runs in a process of its own; its CPU seconds, user and system, include those of its
children. The least of several runs is reported, as other work on the machine only adds to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import numpy as np

from eval.processes import seconds_of
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import EmbedderIdentity, InputType, Progress
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import ADDRESS_FILE
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder

USER = "user"
_SCRIPT = (  # what `pip install` writes as the command semantic-memory
    "import sys; sys.argv[0] = 'semantic-memory';"
    " from semantic_memory.entrypoints.cli import main; main()"
)
_PROGRAM = (sys.executable, "-c", _SCRIPT)
_BATCH = 500
_PATIENCE = 120.0
_SAID = datetime(2026, 1, 1, tzinfo=UTC)
_ENVIRONMENT = {  # modules are compiled once, as after an installation
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "starts", "version": "1"},
    },
}


class Drawn:
    """Embedder that draws vectors at random, in the name of the default model."""

    identity: EmbedderIdentity = OnnxEmbedder().identity

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), dimension), the same for the same texts."""
        del input_type
        dice = np.random.default_rng(sum(map(len, texts)))
        rows = dice.standard_normal((len(texts), self.identity.dimension)).astype(np.float32)
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def fill(directory: Path, memories: int, progress: Progress) -> None:
    """Build a store of one user with so many messages, which yield no facts."""
    with SemanticMemory.open(directory, embedder=Drawn()) as memory:
        for start in range(0, memories, _BATCH):
            memory.observe(
                [
                    Message(
                        id=f"m{place}",
                        role="assistant",
                        content=f"Note {place} says how the shelf of room {place % 90} is sorted.",
                        created_at=_SAID + timedelta(minutes=place),
                    )
                    for place in range(start, min(start + _BATCH, memories))
                ],
                user_id=USER,
                session_id=f"s{start // _BATCH}",
            )
        memory.flush(progress)


def measure(directory: Path, rounds: int, progress: Progress) -> dict[str, float]:
    """Return the CPU seconds of each start, of a program on the store in `directory`."""
    data = ("--data-dir", str(directory))
    completion = {
        "_SEMANTIC_MEMORY_COMPLETE": "complete_bash",
        "COMP_WORDS": "semantic-memory se",
        "COMP_CWORD": "1",
    }
    starts: dict[str, Callable[[], float]] = {
        "Python alone": lambda: _ended([sys.executable, "-c", "pass"]),
        "semantic-memory --version": lambda: _ended([*_PROGRAM, "--version"]),
        "semantic-memory --help": lambda: _ended([*_PROGRAM, "--help"]),
        "completion": lambda: _ended(_PROGRAM, completion),
        "stats": lambda: _ended([*_PROGRAM, "admin", "stats", *data]),
        "search": lambda: _ended([*_PROGRAM, "search", "a sorted shelf", "--user", USER, *data]),
        "mcp, until initialize is answered": lambda: _initialized(
            [*_PROGRAM, "mcp", "--user", USER, *data]
        ),
        "serve, until /readyz is answered": lambda: _ready(
            [*_PROGRAM, "serve", "--port", "0", *data], directory / ADDRESS_FILE
        ),
    }
    figures = {}
    for number, (name, start) in enumerate(starts.items()):
        progress("starting", number, len(starts))
        figures[name] = min(start() for _ in range(rounds))
    return figures


def _ended(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Return the CPU seconds of a program that ends by itself."""
    process = subprocess.Popen(  # noqa: S603  # this project's program
        command, env={**_ENVIRONMENT, **(environment or {})}, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def _initialized(command: Sequence[str]) -> float:
    with _running(command) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the program has no pipes")
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        if b'"result"' not in process.stdout.readline():
            raise RuntimeError("initialize wasn't answered")
        return seconds_of(process.pid)


def _ready(command: Sequence[str], address: Path) -> float:
    address.unlink(missing_ok=True)
    with _running(command) as process:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and process.poll() is None:
            try:
                url = json.loads(address.read_text(encoding="utf-8"))["url"]
                if httpx.get(f"{url}/readyz").status_code == httpx.codes.OK:
                    return seconds_of(process.pid)
            except (OSError, ValueError, httpx.HTTPError):
                pass
            time.sleep(0.01)
        raise RuntimeError("the service doesn't answer")


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603  # this project's program
        command, env=_ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
