"""Parts that checks share: an open store with a clock of its own, a service, and an endpoint."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from eval.audit.endpoint import Endpoint
from eval.load import service
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.client import Client
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Clock, Embedder
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock, ScriptedExtractor

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)  # a Sunday
QUIET: Mapping[str, Any] = {"ingest": {"background": False}, "upkeep": {"schedule": False}}
"""Nothing runs by itself, so that a check sees the effect of its own calls."""
BARE: Mapping[str, Any] = {"index": {"provider": "none"}}
"""Chroma takes seconds to start: it is behind the shared store, the service and checks of it."""
_PATIENCE = 30.0  # seconds


class Site:
    """Stores and a service for one run of the audit, removed at its end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._scratch = Path(
            self._stack.enter_context(TemporaryDirectory(prefix="semantic-memory-audit-"))
        )
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def directory(self) -> Path:
        """Return a directory that isn't there yet."""
        self._number += 1
        return self._scratch / f"place-{self._number}"

    def user(self) -> str:
        """Return a user who has nothing in the shared store yet."""
        self._number += 1
        return f"user-{self._number}"

    @cached_property
    def embedder(self) -> Embedder:
        """The packaged model, loaded once."""
        return make_embedder(Settings())

    @cached_property
    def clock(self) -> FrozenClock:
        """The clock of the shared store, which no check moves."""
        return FrozenClock(NOW)

    @cached_property
    def memory(self) -> SemanticMemory:
        """A store for checks that need no settings, and no time to pass."""
        return self.open(clock=self.clock, settings={"index": {"provider": "chroma"}})

    def open(
        self,
        directory: Path | None = None,
        *,
        clock: Clock | None = None,
        extractor: Any = None,
        observer: Any = None,
        settings: Mapping[str, Any] | None = None,
        awake: bool = False,
    ) -> SemanticMemory:
        """Open a store, closed with the site; `awake` lets it work in the background.

        It has no index behind RAM, unless the settings say so.
        """
        given: dict[str, Any] = {**BARE, **({} if awake else QUIET)}
        for section, values in (settings or {}).items():
            merge = isinstance(values, Mapping)
            given[section] = {**given.get(section, {}), **values} if merge else values
        place = directory or self.directory()
        memory = SemanticMemory.open(
            settings=Settings(data_dir=place, **given),
            embedder=self.embedder,
            clock=clock or FrozenClock(NOW),
            extractor=extractor,
            observer=observer,
        )
        self._stack.callback(memory.close)
        return memory

    @cached_property
    def url(self) -> str:
        """Address of a service on loopback, in a process of its own."""
        return self._stack.enter_context(service(self.served))[1]

    @cached_property
    def served(self) -> Path:
        """Directory of the service's store."""
        return self.directory()

    @cached_property
    def http(self) -> httpx.Client:
        """HTTP client of the service."""
        return self._stack.enter_context(httpx.Client(base_url=self.url, timeout=_PATIENCE))

    @cached_property
    def client(self) -> Client:
        """Client of the service by this package."""
        return self._stack.enter_context(Client(self.url))

    def endpoint(self) -> Endpoint:
        """Return a new endpoint of a language model, that answers as it is told."""
        made = Endpoint()
        self._stack.callback(made.close)
        return made

    def chroma_server(self) -> str:
        """Start a Chroma server; return its URL."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        binary = str(Path(sys.executable).with_name("chroma"))
        place = self.directory()
        place.mkdir()
        process = subprocess.Popen(  # noqa: S603 - a program of this environment
            [binary, "run", "--path", str(place), "--host", "127.0.0.1", "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.1)
            else:
                return url
        raise TimeoutError(f"the Chroma server at {url} didn't start")


def say(
    *contents: str, role: Literal["user", "assistant", "tool"] = "user", **values: Any
) -> list[Message]:
    """Return messages, each a minute after the one before."""
    first = values.pop("created_at", NOW)
    return [
        Message(role=role, content=content, created_at=first + timedelta(minutes=n), **values)
        for n, content in enumerate(contents)
    ]


def tell(
    memory: SemanticMemory, user: str, *contents: str, session: str = "s", **values: Any
) -> None:
    """Observe messages of a user, and extract what they say."""
    memory.observe(say(*contents, **values), user_id=user, session_id=session)
    memory.flush()


def facts(memory: SemanticMemory, user: str, **options: Any) -> list[Fact]:
    """Return a user's facts, without messages, newest first."""
    found = memory.list(user_id=user, limit=None, **options)
    return [fact for fact in found if fact.category is not Category.CONVERSATION]


def texts(memory: SemanticMemory, user: str, **options: Any) -> list[str]:
    """Return the texts of a user's facts."""
    return [fact.content for fact in facts(memory, user, **options)]


def proposing(*proposed: tuple[str, float]) -> ScriptedExtractor:
    """Return an extractor that proposes these facts with their confidence, from each batch."""

    def script(messages: Sequence[Message]) -> list[Candidate]:
        return [
            Candidate(
                content=content,
                category=Category.TECHNICAL,
                confidence=confidence,
                message_ids=(messages[0].id,),
            )
            for content, confidence in proposed
        ]

    return ScriptedExtractor(script)


def eventually(condition: Any, seconds: float = _PATIENCE) -> bool:
    """Wait until a condition holds; return False after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (held := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held
