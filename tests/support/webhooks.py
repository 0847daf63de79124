"""An endpoint on loopback that receives webhooks and answers as told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Endpoint:
    """The messages that came, and the status to answer with."""

    url: str = ""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    status: Callable[[], int] = lambda: 204
    answer: bytes = b""
    """The beginning of an answer that never ends, instead of one with the status."""
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events that came, in order."""
        return [json.loads(body)["type"] for _, body in self.received]

    @property
    def events(self) -> list[Any]:
        """The events that came, in order."""
        return [json.loads(body)["data"] for _, body in self.received]


@contextmanager
def receiving(port: int = 0) -> Iterator[Endpoint]:
    """Run an endpoint."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            endpoint.received.append((headers, body))
            if endpoint.answer:
                self.wfile.write(endpoint.answer)
                endpoint.ended.wait()
                return
            self.send_response(endpoint.status())
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        endpoint.url = f"http://127.0.0.1:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.ended.set()
            server.shutdown()
            thread.join()
