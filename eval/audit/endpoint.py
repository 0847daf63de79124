"""An endpoint of a language model on loopback, which answers what a check tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Request = Mapping[str, Any]
Answer = Callable[[Request], str | int]
"""Returns the text of the answer to a request, or the status of a failure."""


class Endpoint:
    """Server of `/v1/chat/completions` on a free local port."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Answer = lambda _: 503
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(asked)
                said = endpoint.answer(asked)
                status, body = (
                    (said, _error()) if isinstance(said, int) else (200, _completion(said))
                )
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of a store whose facts a model behind this endpoint extracts."""
        base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return {
            "llm": {"audit": {"base_url": base_url, "max_retries": 0}},
            "extraction": {"llm": "audit"},
        }

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def shown(request: Request) -> Any:
    """Return the document that a request for extraction shows to the model."""
    return json.loads(request["messages"][-1]["content"])


def extracted(*stated: Mapping[str, Any], ends: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return an answer to a request for extraction; each part gives what differs from a fact."""
    fields: dict[str, Any] = {
        "category": "personal",
        "holds_from": None,
        "holds_until": None,
        "certainty": "stated",
        "temporary": False,
        "tags": [],
        "replaces": [],
    }
    profile = dict.fromkeys(("work_context", "personal_context", "top_of_mind"))
    facts = [{**fields, **one} for one in stated]
    return json.dumps({"facts": facts, "ends": list(ends), "profile": profile})


def _completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }
    return json.dumps(body).encode()


def _error() -> bytes:
    error = {"message": "failed", "type": "error", "param": None, "code": None}
    return json.dumps({"error": error}).encode()
