"""A real server on loopback, over a store without model and Chroma."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry

from semantic_memory import SemanticMemory
from semantic_memory.domain.events import Event
from semantic_memory.domain.ports import Observer
from semantic_memory.entrypoints.api.access import Doorkeeper
from semantic_memory.entrypoints.api.app import create_app
from semantic_memory.entrypoints.api.server import Server, configured
from semantic_memory.entrypoints.api.tracing import Tracing
from semantic_memory.entrypoints.keys import Keys
from semantic_memory.entrypoints.metrics import MetricsObserver
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state import ServiceState
from semantic_memory.entrypoints.state.embedded import EmbeddedState
from semantic_memory.settings import ServiceSettings
from semantic_memory.sharing.owner import Owner, announcing, own_version
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
ALL = tuple(Right)
R, W, A = Right.READ, Right.WRITE, Right.ADMIN


class OwnThreadServer(Server):
    """uvicorn server without signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass
class Served:
    """A running service with its parts."""

    directory: Path
    memory: SemanticMemory
    keys: Keys
    clock: FrozenClock
    doorkeeper: Doorkeeper
    app: Any
    url: str
    clients: list[httpx.Client] = field(default_factory=list)

    def token(
        self,
        users: Sequence[str] = ("*",),
        rights: Sequence[Right] = ALL,
        agent_id: str | None = None,
        spaces: Sequence[str] = (),
    ) -> str:
        return self.keys.create("test", users, rights, NOW, agent_id=agent_id, spaces=spaces)[1]

    def client(self, token: str | None = None, **options: Any) -> httpx.Client:
        patient = {"timeout": 30.0} | options  # the machine may be busy
        client = httpx.Client(base_url=self.url, **patient)
        if token is not None:
            client.headers["Authorization"] = f"Bearer {token}"
        self.clients.append(client)
        return client

    def announced(self, token: str | None = None) -> AbstractContextManager[None]:
        """Announce the service in its directory, as `semantic-memory serve` does."""
        owner = Owner(
            pid=os.getpid(),
            role="service",
            version=own_version(),
            token=token or self.doorkeeper.local_token,
            settings=self.memory.admin.settings.model_dump(mode="json"),
            url=self.url,
        )
        return announcing(self.directory, owner, None)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def served(
    directory: Path,
    host: str = "127.0.0.1",
    exporter: SpanExporter | None = None,
    state: ServiceState | None = None,
    **settings: Any,
) -> Iterator[Served]:
    """Serve `directory`; a host that isn't loopback is passed to the doorkeeper only.

    Keys, answers and rates are in its files, unless there is a `state`.
    """
    registry = CollectorRegistry()
    clock = FrozenClock(NOW)
    service = ServiceSettings(**{"drain_seconds": 5, **settings})
    tracing = Tracing(exporter or InMemorySpanExporter())
    observers: list[Observer] = [MetricsObserver(registry), tracing]

    def observe(event: Event) -> None:
        for observer in observers:
            observer(event)

    directory.mkdir(exist_ok=True)
    state = state or EmbeddedState(directory, None)
    keys = state.keys()
    doorkeeper = Doorkeeper(keys, host, service.cors_origins)
    with ExitStack() as stack:
        memory = stack.enter_context(
            SemanticMemory.open(
                directory,
                embedder=HashEmbedder(),
                index=InMemoryIndex(),
                clock=clock,
                observer=observe,
            )
        )
        replies = stack.enter_context(state.replies(clock))
        observers.append(replies.withdraw)
        rates = state.rates(service.requests_per_minute)
        app = create_app(memory, service, doorkeeper, replies, rates, registry)
        if exporter is not None:
            stack.enter_context(tracing.traced(app))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        config = configured(app, service)
        server = OwnThreadServer(app, config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        running = Served(directory, memory, keys, clock, doorkeeper, app, url)
        try:
            yield running
        finally:
            for client in running.clients:
                client.close()
            server.should_exit = True
            thread.join()


@contextmanager
def held_up(memory: SemanticMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let each `add` wait until the context ends; lend the event that one has begun."""
    entered, release = threading.Event(), threading.Event()
    add = memory.add

    def slow(*arguments: Any, **options: Any) -> Any:
        entered.set()
        release.wait(60)
        return add(*arguments, **options)

    monkeypatch.setattr(memory, "add", slow)
    try:
        yield entered
    finally:
        release.set()


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Return a function that starts a service."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(served(tmp_path / "served", **options))


@pytest.fixture
def service(serve: Serve) -> Served:
    return serve()


@pytest.fixture
def http(service: Served) -> httpx.Client:
    """Return a client without a key."""
    return service.client()
