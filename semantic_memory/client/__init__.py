"""Clients of a running service, with the methods of `SemanticMemory`.

from semantic_memory.client import Client

with Client("http://127.0.0.1:8321", api_key="smk_...") as memory:
    memory.add("Prefers tea", user_id="maya")
    print(memory.context("What to drink?", user_id="maya").text)
"""

from __future__ import annotations

import httpx

from semantic_memory.client.connection import TIMEOUT, AsyncConnection, Connection
from semantic_memory.client.groups import (
    ClientAdmin,
    ClientEvents,
    ClientHistory,
    ClientItems,
    ClientJobs,
    ClientProfiles,
    ClientSessions,
    ClientTransfers,
)
from semantic_memory.client.methods import ClientGroup, ConnectionT, method
from semantic_memory.client.tables import memory
from semantic_memory.domain.closing import AsyncClosing, Closing

__all__ = ["AsyncClient", "Client"]


class _Verbs(ClientGroup[ConnectionT]):
    """The methods of both clients."""

    observe = method(memory.observe)
    add = method(memory.add)
    search = method(memory.search)
    context = method(memory.context)
    get = method(memory.get)
    list = method(memory.list_)
    update = method(memory.update)
    delete = method(memory.delete)
    forget = method(memory.forget)
    flush = method(memory.flush)

    @property
    def sessions(self) -> ClientSessions[ConnectionT]:
        """The sessions of users: options and messages."""
        return ClientSessions(self._connection)

    @property
    def profile(self) -> ClientProfiles[ConnectionT]:
        """The profile of a user, and the topics of their memories."""
        return ClientProfiles(self._connection)

    @property
    def history(self) -> ClientHistory[ConnectionT]:
        """The versions of memories, and the review of changes."""
        return ClientHistory(self._connection)

    @property
    def transfer(self) -> ClientTransfers[ConnectionT]:
        """Many memories at once: export, load, add."""
        return ClientTransfers(self._connection)

    @property
    def events(self) -> ClientEvents[ConnectionT]:
        """The feed of changes, in their order."""
        return ClientEvents(self._connection)

    @property
    def jobs(self) -> ClientJobs[ConnectionT]:
        """Maintenance jobs."""
        return ClientJobs(self._connection)

    @property
    def admin(self) -> ClientAdmin[ConnectionT]:
        """The store as a whole, for its operator."""
        return ClientAdmin(self._connection)

    @property
    def items(self) -> ClientItems[ConnectionT]:
        """JSON values under exact keys, beside the facts."""
        return ClientItems(self._connection)


class Client(_Verbs[Connection], Closing):
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
        super().__init__(Connection(url, api_key, timeout, attempts, seconds, transport))

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()


class AsyncClient(_Verbs[AsyncConnection], AsyncClosing):
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
        super().__init__(AsyncConnection(url, api_key, timeout, attempts, seconds, transport))

    async def close(self) -> None:
        """Close every connection."""
        await self._connection.close()
