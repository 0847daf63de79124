"""Subscriptions of clients: server-sent events, connected again where they broke off."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Self

import anyio
import httpx

from semantic_memory.client.calls import Call
from semantic_memory.client.frames import Framing
from semantic_memory.client.tables.events import subscribe
from semantic_memory.concurrency import Backoff
from semantic_memory.domain.closing import AsyncClosing, Closing
from semantic_memory.domain.errors import ServiceError
from semantic_memory.domain.feed import MemoryEvent

_SILENCE = 60.0  # seconds, of which the service sends a sign of life every 15
_STREAM = "text/event-stream"
_BACKOFF = Backoff(0.5, 60.0)


def stream_options(call: Call, after: int, timeout: httpx.Timeout) -> dict[str, Any]:
    """Return the options of httpx for the stream of a call, from a place on."""
    return {
        "params": {**call.query, "after": after},
        "headers": {"Accept": _STREAM},
        "timeout": httpx.Timeout(**timeout.as_dict() | {"read": _SILENCE}),
    }


class _Arrived:
    """Events that arrived and wait to be handed out, and the place to resume from."""

    def __init__(self, after: int, backoff: Backoff) -> None:
        self.after = after
        self._backoff = backoff
        self._framing = Framing()
        self._data: deque[str] = deque()
        self._fruitless = 0  # connections in a row that brought no frame

    @property
    def pause(self) -> float:
        """Seconds before the next connection."""
        return self._backoff.pause(self._fruitless) if self._fruitless else 0.0

    def begin(self, response: httpx.Response) -> None:
        """Begin with another connection. Raises ServiceError if it brings no stream."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _STREAM:
            raise ServiceError(
                f"the answer to `events.subscribe` is {kind or 'of no type'} instead of {_STREAM}:"
                " check the address of the service, and whether a proxy in between asks for a login"
            )
        self._framing = Framing()
        self._fruitless += 1

    def take(self, piece: bytes) -> None:
        """Keep the events of the frames that a piece completes."""
        for frame in self._framing.take(piece):
            self._fruitless = 0
            if frame.id.isdecimal():
                self.after = int(frame.id)
            if frame.data:
                self._data.append(frame.data)

    def next(self) -> MemoryEvent | None:
        """Return the next event, None if more must arrive."""
        return subscribe.read(self._data.popleft().encode()) if self._data else None


class ClientSubscription(Closing):
    """Events from a place on, as an iterator that waits for the next one.

    A connection that breaks is made again, behind the latest event. Ends when it is closed.
    """

    def __init__(
        self,
        connect: Callable[[int], httpx.Response],
        after: int,
        backoff: Backoff = _BACKOFF,
    ) -> None:
        """`connect` opens the stream behind a place, and tries again where that may help.

        `backoff` gives the pauses while connections end without a sign of life.
        """
        self._connect = connect
        self._arrived = _Arrived(after, backoff)
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._closed = threading.Event()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MemoryEvent:
        while not self._closed.is_set():
            if (event := self._arrived.next()) is not None:
                return event
            if piece := self._piece():
                self._arrived.take(piece)
                continue
            self._drop()
            if not self._closed.wait(self._arrived.pause):
                self._open()
        self._drop()
        raise StopIteration

    def _piece(self) -> bytes:
        """Return the next bytes of the connection, none if it is over."""
        try:
            return next(self._pieces, b"")
        except (httpx.TransportError, httpx.StreamError):
            return b""

    def _open(self) -> None:
        self._response = self._connect(self._arrived.after)
        try:
            self._arrived.begin(self._response)
        except ServiceError:
            self._drop()
            raise
        self._pieces = self._response.iter_bytes()

    def _drop(self) -> None:
        if self._response is not None:
            self._response.close()

    def close(self) -> None:
        """End the iteration; a thread that waits for an event ends at the next sign of life."""
        self._closed.set()
        self._drop()


class AsyncClientSubscription(AsyncClosing):
    """A `ClientSubscription` that is iterated with `async for`."""

    def __init__(
        self,
        connect: Callable[[int], Awaitable[httpx.Response]],
        after: int,
        backoff: Backoff = _BACKOFF,
    ) -> None:
        self._connect = connect
        self._arrived = _Arrived(after, backoff)
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None
        self._closed = anyio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> MemoryEvent:
        while not self._closed.is_set():
            if (event := self._arrived.next()) is not None:
                return event
            if piece := await self._piece():
                self._arrived.take(piece)
                continue
            await self._drop()
            with anyio.move_on_after(self._arrived.pause):
                await self._closed.wait()
            if not self._closed.is_set():
                await self._open()
        await self._drop()
        raise StopAsyncIteration

    async def _piece(self) -> bytes:
        try:
            return b"" if self._pieces is None else await anext(self._pieces, b"")
        except (httpx.TransportError, httpx.StreamError):
            return b""

    async def _open(self) -> None:
        self._response = await self._connect(self._arrived.after)
        try:
            self._arrived.begin(self._response)
        except ServiceError:
            await self._drop()
            raise
        self._pieces = self._response.aiter_bytes()

    async def _drop(self) -> None:
        if self._response is not None:
            await self._response.aclose()

    async def close(self) -> None:
        """End the iteration."""
        self._closed.set()
        await self._drop()
