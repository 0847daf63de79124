"""The embedder as an OpenAI-compatible endpoint, for systems that accept nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class EmbeddingEndpoint:
    """Server of `/v1/embeddings` on a free local port."""

    def __init__(self, vectors: Callable[[list[str]], list[list[float]]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                given = asked["input"]
                texts = [given] if isinstance(given, str) else given
                rows = [
                    {"object": "embedding", "index": index, "embedding": vector}
                    for index, vector in enumerate(vectors(texts))
                ]
                body = json.dumps({"object": "list", "model": asked["model"], "data": rows})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """URL of the server."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
