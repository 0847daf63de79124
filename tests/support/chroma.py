"""A Chroma server of its own on loopback, as `chroma run` starts it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx

Tokens = tuple[str | None, str | None]

_START_SECONDS = 120.0


class Server:
    """A server on a free port, with its data in a directory."""

    def __init__(self, directory: Path) -> None:
        """Choose the port; nothing runs yet."""
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self._port}"

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
        program = Path(sys.executable).with_name("chroma")
        options = ["--host", "127.0.0.1", "--port", str(self._port), "--path", str(self._directory)]
        self._process = subprocess.Popen(
            [str(program), "run", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + _START_SECONDS
        while not self._is_up():
            assert self._process.poll() is None, (
                f"the server ended, with {self._process.returncode}"
            )
            assert time.monotonic() < until, "the server doesn't answer"
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill it if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _is_up(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v2/healthcheck", timeout=5.0).is_success
        except httpx.HTTPError:
            return False


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
