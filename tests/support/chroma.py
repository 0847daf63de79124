"""A Chroma server of its own on loopback, as `chroma run` starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx

from eval.chaos.programs import chroma, free_ports

Tokens = tuple[str | None, str | None]


class Server:
    """A server on a free port, with its data in a directory."""

    def __init__(self, directory: Path) -> None:
        """Choose the port; nothing runs yet."""
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self._program = chroma(port, directory)

    @property
    def collections(self) -> str:
        """The URL of its collections."""
        return f"{self.url}/api/v2/tenants/default_tenant/databases/default_database/collections"

    def held(self) -> dict[str, str]:
        """Return the ids of its collections by their names."""
        listed = httpx.get(self.collections, timeout=60.0).json()
        return {collection["name"]: collection["id"] for collection in listed}

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._program.start()
        self._program.wait()

    def kill(self) -> None:
        """Kill it if it runs."""
        self._program.kill()


@dataclass
class Refusing:
    """A proxy before a server that refuses everybody."""

    url: str
    tokens: list[Tokens] = field(default_factory=list)
    """The headers `Authorization` and `X-Chroma-Token` of each request."""


@contextmanager
def refusing() -> Iterator[Refusing]:
    """Run a proxy that answers 401."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proxy.tokens.append((self.headers["Authorization"], self.headers["X-Chroma-Token"]))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        proxy = Refusing(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield proxy
        server.shutdown()
        thread.join()
