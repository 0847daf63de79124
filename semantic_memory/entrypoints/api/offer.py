"""Serving an open store to other processes of this machine, at once or when one first connects."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

_NEEDED = ("fastapi", "uvicorn", "prometheus_client")


def can_serve() -> bool:
    """Return True if what the service needs is installed."""
    return all(find_spec(name) is not None for name in _NEEDED)


class Offer:
    """A thread that builds the server and runs it, after the first connection unless `at_once`.

    So a short-lived process that nobody talks to never loads the service, which would double its
    start; where others are expected, none of them waits for it.
    """

    def __init__(
        self,
        listener: socket.socket,
        serving: Callable[[], AbstractContextManager[uvicorn.Server]],
        *,
        at_once: bool = False,
    ) -> None:
        """`serving` builds the server, on the thread."""
        self._listener = listener
        self._serving = serving
        self._woken, self._wakes = socket.socketpair()
        self._server: uvicorn.Server | None = None
        self._closing = False
        self._at_once = at_once
        self._thread = threading.Thread(target=self._run, name="semantic-memory-offer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._at_once or self._is_asked():
                with self._serving() as server:
                    self._server = server
                    if self._closing:  # `close` may have come before there was a server to tell
                        server.should_exit = True
                    server.run(sockets=[self._listener])
        finally:
            self._listener.close()  # waiting requests are refused

    def _is_asked(self) -> bool:
        """Wait for a connection or for the end; return True for a connection."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            selector.select()
        return not self._closing

    def close(self) -> None:
        """Finish the requests under way, and serve no more."""
        self._closing = True
        if self._server is not None:
            self._server.should_exit = True
        self._wakes.send(b"x")
        self._thread.join()
        self._woken.close()
        self._wakes.close()
