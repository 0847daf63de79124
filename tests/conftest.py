"""Fixtures of all tests: no network, no settings of the machine, small stores."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import certifi
import numpy as np
import pytest
from hypothesis import settings

from semantic_memory import Category, Fact, Message, SemanticMemory
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.events import Event
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from semantic_memory.vectors.chroma import process
from tests.support import chroma, postgres, warm_chroma
from tests.support.effort import QUICK
from tests.support.judges import plain_pair_judge

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
DATA = Path(__file__).parent.parent / "data"
START_WORKER = process.start_worker

settings.load_profile(QUICK)  # before --hypothesis-profile, which wins


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def connect_locally(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_locally)


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have HTTP clients load one root certificate; all of them take 50 ms of CPU a client."""
    end = "-----END CERTIFICATE-----\n"
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm_chroma() -> Iterator[None]:
    """Have stores of this process fork their Chroma workers, which saves a second of CPU each."""
    nursery = warm_chroma.Nursery()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "start_worker", nursery.start_worker)
        yield
    nursery.close()


@pytest.fixture
def cold_chroma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start Chroma workers as the product does."""
    monkeypatch.setattr(process, "start_worker", START_WORKER)


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SEMANTIC_MEMORY_DATA_DIR", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _own_levels_of_logging() -> Iterator[None]:
    """Undo what a service that the test started set for the whole process."""
    loggers = [logging.getLogger(), logging.getLogger("semantic_memory")]
    before = [(one.level, list(one.handlers), one.propagate) for one in loggers]
    yield
    for logger, (level, handlers, propagate) in zip(loggers, before, strict=True):
        logger.setLevel(level)
        logger.handlers[:] = handlers
        logger.propagate = propagate


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A PostgreSQL server of these tests' own."""
    postgres.require()
    server = postgres.create()
    server.start()
    yield server
    server.stop("immediate")
    server.remove()


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chroma.Server]:
    """A Chroma server of these tests' own."""
    server = chroma.Server(tmp_path_factory.mktemp("chroma-server"))
    server.start()
    yield server
    server.kill()


OpenMemory = Callable[..., SemanticMemory]


@pytest.fixture
def open_memory(tmp_path: Path, clock: FrozenClock, events: list[Event]) -> Iterator[OpenMemory]:
    """Return a function that opens a store without model and Chroma; close it afterwards."""
    opened: list[SemanticMemory] = []

    def open_it(**parts: Any) -> SemanticMemory:
        defaults: dict[str, Any] = {
            "embedder": HashEmbedder(),
            "index": InMemoryIndex(),
            "clock": clock,
            "observer": events.append,
            "pair_judge": plain_pair_judge(),
        }
        memory = SemanticMemory.open(tmp_path / "store", **{**defaults, **parts})
        opened.append(memory)
        return memory

    yield open_it
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> SemanticMemory:
    return open_memory()


def make_fact(number: int = 1, **values: Any) -> Fact:
    """Return a fact with a unique id; `values` replaces fields."""
    defaults: dict[str, Any] = {
        "id": f"fact-{number}",
        "user_id": "u1",
        "content": f"Thing number {number}",
        "category": Category.PREFERENCE,
        "created_at": NOW,
        "recorded_at": NOW,
        "valid_from": NOW,
    }
    return Fact(**{**defaults, **values})


def say(*contents: str, role: str = "user", start: int = 1, **values: Any) -> list[Message]:
    """Return messages with the ids m1, m2, ..."""
    return [
        Message(id=f"m{number}", role=role, content=content, **values)
        for number, content in enumerate(contents, start=start)
    ]


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until `condition` holds; return False after a time-out."""
    deadline = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def unit_vectors(number: int, dimension: int = 16, seed: int = 0) -> Matrix:
    """Return random unit row vectors."""
    rows = np.random.default_rng(seed).standard_normal((number, dimension)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
