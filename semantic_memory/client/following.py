"""Subscriptions of clients: server-sent events, connected again where they broke off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from semantic_memory.client.verbs import Call, subscribe
from semantic_memory.domain.feed import MemoryEvent

_SILENCE = 60.0  # seconds, of which the service sends a sign of life every 15


def stream_options(call: Call, after: int, timeout: httpx.Timeout) -> dict[str, Any]:
    """Return the options of httpx for the stream of a call, from a place on."""
    return {
        "params": {**call.query, "after": after},
        "headers": {"Accept": "text/event-stream"},
        "timeout": httpx.Timeout(**timeout.as_dict() | {"read": _SILENCE}),
    }


def _data(line: str) -> str:
    """Return the data of a line; empty for a line of another field."""
    return line.removeprefix("data: ") if line.startswith("data: ") else ""


def _place(line: str, before: int) -> int:
    """Return the place that a line tells, or the one `before`."""
    return int(line.removeprefix("id: ")) if line.startswith("id: ") else before


class ClientSubscription:
    """Events from a place on, as an iterator that waits for the next one.

    A connection that breaks is made again, behind the latest event. Ends when it is closed.
    """

    def __init__(self, connect: Callable[[int], httpx.Response], after: int) -> None:
        """`connect` opens the stream behind a place, and tries again where that may help."""
        self._connect = connect
        self._after = after
        self._response: httpx.Response | None = None
        self._lines: Iterator[str] = iter(())
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MemoryEvent:
        while not self._closed:
            try:
                for line in self._lines:
                    self._after = _place(line, self._after)
                    if data := _data(line):
                        event = subscribe.read(data.encode())
                        self._after = event.id
                        return event
            except (httpx.TransportError, httpx.StreamError):
                pass  # connected again below
            if not self._closed:
                self._drop()
                self._response = self._connect(self._after)
                self._lines = self._response.iter_lines()
        self._drop()
        raise StopIteration

    def _drop(self) -> None:
        if self._response is not None:
            self._response.close()

    def close(self) -> None:
        """End the iteration; a thread that waits for an event ends at the next sign of life."""
        self._closed = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClientSubscription:
    """A `ClientSubscription` that is iterated with `async for`."""

    def __init__(self, connect: Callable[[int], Awaitable[httpx.Response]], after: int) -> None:
        self._connect = connect
        self._after = after
        self._response: httpx.Response | None = None
        self._lines: AsyncIterator[str] | None = None
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> MemoryEvent:
        while not self._closed:
            try:
                while self._lines is not None:
                    line = await anext(self._lines)
                    self._after = _place(line, self._after)
                    if data := _data(line):
                        event = subscribe.read(data.encode())
                        self._after = event.id
                        return event
            except (httpx.TransportError, httpx.StreamError, StopAsyncIteration):
                pass  # connected again below
            if not self._closed:
                await self._drop()
                self._response = await self._connect(self._after)
                self._lines = self._response.aiter_lines()
        await self._drop()
        raise StopAsyncIteration

    async def _drop(self) -> None:
        if self._response is not None:
            await self._response.aclose()

    async def close(self) -> None:
        """End the iteration."""
        self._closed = True
        await self._drop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
