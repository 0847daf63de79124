"""Clients of a running service, with the methods of `SemanticMemory`.

from semantic_memory.client import Client

with Client("http://127.0.0.1:8321", api_key="smk_...") as memory:
    memory.add("Prefers tea", user_id="maya")
    print(memory.context("What to drink?", user_id="maya").text)
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from semantic_memory.client.connection import TIMEOUT, AsyncConnection, Connection
from semantic_memory.client.groups import (
    AsyncClientAdmin,
    AsyncClientEvents,
    AsyncClientHistory,
    AsyncClientItems,
    AsyncClientJobs,
    AsyncClientProfiles,
    AsyncClientSessions,
    AsyncClientTransfers,
    ClientAdmin,
    ClientEvents,
    ClientHistory,
    ClientItems,
    ClientJobs,
    ClientProfiles,
    ClientSessions,
    ClientTransfers,
)
from semantic_memory.client.methods import awaited, sent
from semantic_memory.client.tables import memory

__all__ = ["AsyncClient", "Client"]


class Client:
    """A client of a memory service, with the methods of `SemanticMemory`. Thread-safe.

    Temporary failures (no connection, 408, 429, 502, 503, 504) are sent again, up to `attempts`
    times within `seconds`, after the pause that the service asks for or with exponential back-off;
    writes carry an idempotency key and happen once.

    All methods raise ServiceUnavailableError if that doesn't help, AccessDeniedError if the key
    doesn't cover the user or the right, and the errors of the method of `SemanticMemory`.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: httpx.Timeout | float = TIMEOUT,
        attempts: int = 5,
        seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection(url, api_key, timeout, attempts, seconds, transport)

    observe = sent(memory.observe)
    add = sent(memory.add)
    search = sent(memory.search)
    context = sent(memory.context)
    get = sent(memory.get)
    list = sent(memory.list_)
    update = sent(memory.update)
    delete = sent(memory.delete)
    forget = sent(memory.forget)
    flush = sent(memory.flush)

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def sessions(self) -> ClientSessions:
        """The sessions of users: options and messages."""
        return ClientSessions(self._connection)

    @property
    def profile(self) -> ClientProfiles:
        """The profile of a user, and the topics of their memories."""
        return ClientProfiles(self._connection)

    @property
    def history(self) -> ClientHistory:
        """The versions of memories, and the review of changes."""
        return ClientHistory(self._connection)

    @property
    def transfer(self) -> ClientTransfers:
        """Many memories at once: export, load, add."""
        return ClientTransfers(self._connection)

    @property
    def events(self) -> ClientEvents:
        """The feed of changes, in their order."""
        return ClientEvents(self._connection)

    @property
    def jobs(self) -> ClientJobs:
        """Maintenance jobs."""
        return ClientJobs(self._connection)

    @property
    def admin(self) -> ClientAdmin:
        """The store as a whole, for its operator."""
        return ClientAdmin(self._connection)

    @property
    def items(self) -> ClientItems:
        """JSON values under exact keys, beside the facts."""
        return ClientItems(self._connection)


class AsyncClient:
    """A `Client` whose methods are awaited."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: httpx.Timeout | float = TIMEOUT,
        attempts: int = 5,
        seconds: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._connection = AsyncConnection(url, api_key, timeout, attempts, seconds, transport)

    observe = awaited(memory.observe)
    add = awaited(memory.add)
    search = awaited(memory.search)
    context = awaited(memory.context)
    get = awaited(memory.get)
    list = awaited(memory.list_)
    update = awaited(memory.update)
    delete = awaited(memory.delete)
    forget = awaited(memory.forget)
    flush = awaited(memory.flush)

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def sessions(self) -> AsyncClientSessions:
        """The sessions of users: options and messages."""
        return AsyncClientSessions(self._connection)

    @property
    def profile(self) -> AsyncClientProfiles:
        """The profile of a user, and the topics of their memories."""
        return AsyncClientProfiles(self._connection)

    @property
    def history(self) -> AsyncClientHistory:
        """The versions of memories, and the review of changes."""
        return AsyncClientHistory(self._connection)

    @property
    def transfer(self) -> AsyncClientTransfers:
        """Many memories at once: export, load, add."""
        return AsyncClientTransfers(self._connection)

    @property
    def events(self) -> AsyncClientEvents:
        """The feed of changes, in their order."""
        return AsyncClientEvents(self._connection)

    @property
    def jobs(self) -> AsyncClientJobs:
        """Maintenance jobs."""
        return AsyncClientJobs(self._connection)

    @property
    def admin(self) -> AsyncClientAdmin:
        """The store as a whole, for its operator."""
        return AsyncClientAdmin(self._connection)

    @property
    def items(self) -> AsyncClientItems:
        """JSON values under exact keys, beside the facts."""
        return AsyncClientItems(self._connection)
