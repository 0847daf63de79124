"""Limits on connections without a request in progress: their number, time and bytes.

The server waits for ever for the headers of a request and reads any length of them, and counts a
connection that sends none against the others. Here such a connection is closed after a time; of too
many, the oldest is closed; one whose headers are too long is answered with 431.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


def guarded(most: int, most_bytes: int, most_seconds: float) -> type[HttpToolsProtocol]:
    """Return the protocol of a server with at most `most` connections that send no request."""
    waiting: dict[Guarded, None] = {}

    class Bounded(Guarded):
        def __init__(self, *parts: Any, **named: Any) -> None:
            super().__init__(*parts, **named)
            self.bound(waiting, most, most_bytes, most_seconds)

    return Bounded


class Guarded(HttpToolsProtocol):
    """HTTP over one connection, within limits.

    A request is in progress from its last header to the end of its answer.
    """

    _timer: asyncio.TimerHandle | None = None

    def bound(
        self, waiting: dict[Guarded, None], most: int, most_bytes: int, most_seconds: float
    ) -> None:
        """Set the limits; `waiting` are all connections without a request, oldest first."""
        self._waiting = waiting
        self._most = most
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in data; headers that are too long end the connection."""
        self._received += len(data)
        super().data_received(data)
        if self in self._waiting and self._received > self._most_bytes:
            self._done_waiting()
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """Begin the request. Raises ValueError, which is answered with 400, for long headers."""
        self._done_waiting()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self._most_bytes:
            raise ValueError("the headers are too long")
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._done_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._done_waiting()
        self._received = 0
        self._waiting[self] = None
        self._timer = self.loop.call_later(self._most_seconds, self.transport.close)
        if len(self._waiting) > self._most:
            oldest = next(iter(self._waiting))
            oldest._done_waiting()  # noqa: SLF001  # of the same class
            oldest.transport.close()

    def _done_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
