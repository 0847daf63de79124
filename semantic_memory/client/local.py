"""Clients of the process that owns a data directory on this machine, whichever it is at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import anyio
import httpx
from anyio import to_thread

from semantic_memory.client import AsyncClient, Client
from semantic_memory.sharing.owner import Owner

Find = Callable[[Owner | None], Owner]
"""Returns the present owner; given one that can't be reached, looks for another."""

_URL = "http://localhost"
_TIMEOUT = httpx.Timeout(600.0, connect=5.0)  # a flush may wait for a model; a kill ends the wait
_PATIENCE = 30.0  # seconds: an owner that is closing its store finishes what is under way
_PAUSE = 0.05
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)


def client_of(find: Find, close: Callable[[], None] | None = None) -> Client:
    """Return a client of the owners that `find` returns; closing it calls `close`."""
    return Client(_URL, timeout=_TIMEOUT, transport=OwnerTransport(find, close))


def async_client_of(find: Find, close: Callable[[], None] | None = None) -> AsyncClient:
    """Return an asynchronous client of the owners that `find` returns."""
    return AsyncClient(_URL, timeout=_TIMEOUT, transport=AsyncOwnerTransport(find, close))


class OwnerTransport(httpx.BaseTransport):
    """Sends requests to the present owner. Thread-safe.

    A request that reached none goes to the next one. One that was under way when its owner ended
    fails, as it may have been carried out; the client sends it again with its idempotency key.
    """

    def __init__(self, find: Find, close: Callable[[], None] | None = None) -> None:
        self._find = find
        self._close = close
        self._transports: dict[tuple[int, str], httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response."""
        owner = self._find(None)
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._to(owner).handle_request(_addressed(request, owner))
            except _NOT_SENT:
                if time.monotonic() > end:
                    raise
            except httpx.TransportError as error:
                raise _interrupted(error, owner) from error
            time.sleep(_PAUSE)
            owner = self._find(owner)

    def _to(self, owner: Owner) -> httpx.HTTPTransport:
        # A forked child must not use the connections of its parent.
        key = os.getpid(), owner.token
        if (transport := self._transports.get(key)) is None:
            transport = self._transports.setdefault(key, httpx.HTTPTransport(uds=owner.socket))
        return transport

    def close(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            transport.close()
        if self._close is not None:
            self._close()


class AsyncOwnerTransport(httpx.AsyncBaseTransport):
    """An `OwnerTransport` that is awaited; owners are looked for on a thread."""

    def __init__(self, find: Find, close: Callable[[], None] | None = None) -> None:
        self._find = find
        self._close = close
        self._transports: dict[tuple[int, str], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response."""
        owner = await to_thread.run_sync(self._find, None)
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return await self._to(owner).handle_async_request(_addressed(request, owner))
            except _NOT_SENT:
                if time.monotonic() > end:
                    raise
            except httpx.TransportError as error:
                raise _interrupted(error, owner) from error
            await anyio.sleep(_PAUSE)
            owner = await to_thread.run_sync(self._find, owner)

    def _to(self, owner: Owner) -> httpx.AsyncHTTPTransport:
        key = os.getpid(), owner.token
        if (transport := self._transports.get(key)) is None:
            transport = self._transports.setdefault(key, httpx.AsyncHTTPTransport(uds=owner.socket))
        return transport

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            await transport.aclose()
        if self._close is not None:
            await to_thread.run_sync(self._close)


def _addressed(request: httpx.Request, owner: Owner) -> httpx.Request:
    """Return the request with the owner's address and token."""
    if owner.socket is None:
        place = httpx.URL(owner.url or _URL)
        request.url = request.url.copy_with(host=place.host, port=place.port)
        request.headers["Host"] = place.netloc.decode("ascii")
    request.headers["Authorization"] = f"Bearer {owner.token}"
    return request


def _interrupted(error: httpx.TransportError, owner: Owner) -> httpx.TransportError:
    reason = str(error) or type(error).__name__
    return type(error)(f"{owner.name}, which has the store open, ended or failed: {reason}")
