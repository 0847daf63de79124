"""A service on loopback over the sample conversations, for a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry, ProcessCollector

from ingest.readers import Incoming, read
from semantic_memory import SemanticMemory
from semantic_memory.entrypoints.api.access import Doorkeeper
from semantic_memory.entrypoints.api.app import create_app
from semantic_memory.entrypoints.dashboard.samples import Sampler
from semantic_memory.entrypoints.keys import Keys
from semantic_memory.entrypoints.metrics import MetricsObserver
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state.file_keys import FileKeys
from semantic_memory.entrypoints.state.file_replies import FileReplies
from semantic_memory.entrypoints.state.local_rates import LocalRates
from semantic_memory.settings import ServiceSettings, Settings
from semantic_memory.testing import FrozenClock

CONVERSATIONS = Path(__file__).parent.parent.parent / "data" / "conversations"
NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
USER = "maya"


@dataclass
class Running:
    """A service with its parts."""

    url: str
    memory: SemanticMemory
    keys: Keys
    sampler: Sampler
    clock: FrozenClock

    def key(self, users: tuple[str, ...] = ("*",), rights: tuple[Right, ...] = tuple(Right)) -> str:
        return self.keys.create("test", users, rights, NOW)[1]


class _Server(uvicorn.Server):
    """uvicorn server without signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def serve_sample(
    directory: Path, port: int = 0, *, filled: bool = True, **parts: Any
) -> Iterator[Running]:
    """Serve the three sample conversations, a few days after the last one; or an empty store."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    clock = FrozenClock(NOW)
    keys = FileKeys(directory)
    with ExitStack() as stack:
        memory = stack.enter_context(
            SemanticMemory.open(
                directory,
                settings=Settings(upkeep={"schedule": False}),
                clock=clock,
                observer=MetricsObserver(registry),
                **parts,
            )
        )
        if filled:
            fill(memory)
        replies = FileReplies(directory / "replies.sqlite3", clock)
        stack.callback(replies.close)
        app = create_app(
            memory,
            ServiceSettings(drain_seconds=5),
            Doorkeeper(keys, "127.0.0.1"),
            replies,
            LocalRates(60_000),
            registry,
        )
        # sampled by the same clock
        app.state.sampler = Sampler(
            registry, app.state.store_registry, clock, lambda: clock.now().timestamp()
        )
        listener = stack.enter_context(socket.create_server(("127.0.0.1", port)))
        server = _Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            yield Running(url, memory, keys, app.state.sampler, clock)
        finally:
            server.should_exit = True
            thread.join()


def fill(memory: SemanticMemory) -> None:
    """Observe the sample conversations, and extract their facts."""
    for file in sorted(CONVERSATIONS.glob("*.jsonl")):
        items = [item for item in read(file, "auto", file.stem) if isinstance(item, Incoming)]
        messages = [item.message for item in items]
        memory.observe(messages, user_id=USER, session_id=file.stem)
    memory.flush()
