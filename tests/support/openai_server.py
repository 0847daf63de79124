"""An OpenAI-compatible endpoint on loopback that answers as scripted.

The real client talks to it over HTTP: chat completions, embeddings, files, batches.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMPLETIONS = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"


@dataclass(frozen=True)
class Reply:
    """A scripted response."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0
    cut: bool = False
    """Close the connection half way through the body."""
    endless: bytes = b""
    """Send this again and again, for as long as the client listens."""


Script = Reply | Callable[[dict[str, Any]], "Script"]


def completion(
    content: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] = (1_000, 100),
) -> Reply:
    """Return a chat completion with this text."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }
    return Reply(json.dumps(body).encode())


def fact(statement: str, *messages: Any, category: str = "personal", **fields: Any) -> Any:
    """Return a fact in the form of a model's answer; `quoting` fills in what it quotes."""
    return {
        "statement": statement,
        "category": category,
        "messages": list(messages),
        "holds_from": None,
        "holds_until": None,
        "certainty": "stated",
        "temporary": False,
        "tags": [],
        "replaces": [],
        **fields,
    }


def end(known: Any, *messages: Any, **fields: Any) -> Any:
    """Return the end of a known fact in the form of a model's answer."""
    return {"id": known, "messages": list(messages), **fields}


def answer(
    *facts: Any, profile: Any = None, ends: Any = (), delay: float = 0.0, **options: Any
) -> Callable[[dict[str, Any]], Reply]:
    """Return a reply with the results of extraction, each quoting the message that it names."""
    fields = dict.fromkeys(("work_context", "personal_context", "top_of_mind"))

    def script(request: dict[str, Any]) -> Reply:
        parts = {
            "facts": quoting(facts, request),
            "ends": quoting(ends, request),
            "profile": {**fields, **(profile or {})},
        }
        return replace(completion(json.dumps(parts), **options), delay=delay)

    return script


def quoting(parts: Any, request: dict[str, Any]) -> list[Any]:
    """Return parts of an answer that quote the whole of the first message that each names."""
    texts = {str(message["n"]): message["text"] for message in shown(request)["messages"]}
    return [
        {"quote": next((texts[str(n)] for n in part["messages"] if str(n) in texts), ""), **part}
        if isinstance(part, dict) and isinstance(part.get("messages"), list)
        else part
        for part in parts
    ]


def failure(status: int, message: str = "failed", code: str | None = None, **headers: str) -> Reply:
    """Return an error in OpenAI's form, which the client may retry after 1 ms."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Reply(
        json.dumps({"error": error}).encode(),
        status,
        {"Content-Type": "application/json", "retry-after-ms": "1", **headers},
    )


def shown(request: dict[str, Any]) -> Any:
    """Return the document in a request."""
    return json.loads(request["messages"][-1]["content"])


class OpenAIServer:
    """Endpoint with scripted replies, in order; it repeats the last one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.script: list[Script] = []
        self.requests: list[dict[str, Any]] = []
        """Bodies of the chat completion requests, in order."""
        self.embedded: list[dict[str, Any]] = []
        """Bodies of the embeddings requests, in order."""
        self.dimension = 8
        """Dimension of the vectors, all of which are equal."""
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        """Headers of all requests, in order; their paths and queries are below."""
        self.paths: list[str] = []
        self.queries: list[str] = []
        self.batch_status = ["validating", "in_progress", "completed"]
        self.takes_batches = True
        self.batch_failures: set[str] = set()
        """Custom ids that a batch doesn't serve."""
        self.batch_untried = 0
        """Number of the first requests that a batch doesn't reach before it expires."""
        self.batches: dict[str, dict[str, Any]] = {}
        """Creation parameters of each batch, by its id."""
        self._files: dict[str, bytes] = {}
        self._lock = threading.Lock()

    @property
    def texts(self) -> list[list[str]]:
        """Texts of the messages in each request."""
        return [[m["text"] for m in shown(request)["messages"]] for request in self.requests]

    def reply(self, request: dict[str, Any]) -> Reply:
        """Return the next reply."""
        with self._lock:
            self.requests.append(request)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        while callable(step):
            step = step(request)
        return step

    def embeddings(self, request: dict[str, Any]) -> Reply:
        """Return a vector for each text."""
        self.embedded.append(request)
        row = [1.0] + [0.0] * (self.dimension - 1)
        data = [
            {"object": "embedding", "index": number, "embedding": row}
            for number, _ in enumerate(request["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = {"object": "list", "data": data, "model": request["model"], "usage": usage}
        return Reply(json.dumps(body).encode())

    def upload(self, data: bytes) -> dict[str, Any]:
        """Store the file of a multipart form."""
        start = data.index(b"\r\n\r\n", data.index(b'filename="')) + 4
        boundary = data[: data.index(b"\r\n")]
        file_id = f"file-{len(self._files)}"
        self._files[file_id] = data[start : data.index(b"\r\n" + boundary, start)]
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(data),
            "created_at": 0,
            "filename": "x",
            "purpose": "batch",
            "status": "processed",
        }

    def batch(self, file_id: str) -> dict[str, Any]:
        """Return the state of a batch; each call advances it."""
        status = self.batch_status.pop(0) if len(self.batch_status) > 1 else self.batch_status[0]
        state = self.described(file_id, status)
        if status in ("completed", "expired"):
            state["output_file_id"] = f"{file_id}-output"
            if state["output_file_id"] not in self._files:
                self._files[state["output_file_id"]] = self._worked_off(file_id, status)
        if status == "failed":
            error = {"message": "the file is too long", "code": "x", "line": None, "param": None}
            state["errors"] = {"object": "list", "data": [error]}
        return state

    def described(self, file_id: str, status: str) -> dict[str, Any]:
        """Return a batch in a state."""
        total = len(self._files[file_id].splitlines())
        finished = total if status == "completed" else 0
        return {
            "id": f"batch_{file_id}",
            "object": "batch",
            "endpoint": COMPLETIONS,
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": file_id,
            "status": status,
            "metadata": self.batches[f"batch_{file_id}"].get("metadata"),
            "request_counts": {"total": total, "completed": finished, "failed": 0},
        }

    def listed(self) -> dict[str, Any]:
        """Return every batch, the latest first."""
        names = [name.removeprefix("batch_") for name in reversed(self.batches)]
        data = [self.described(name, self.batch_status[0]) for name in names]
        return {"object": "list", "data": data, "has_more": False}

    def content(self, file_id: str) -> bytes:
        """Return a file."""
        return self._files[file_id]

    def _worked_off(self, file_id: str, status: str) -> bytes:
        lines = []
        untried = self.batch_untried if status == "expired" else 0
        for line in self._files[file_id].splitlines()[untried:]:
            request = json.loads(line)
            assert (request["method"], request["url"]) == ("POST", COMPLETIONS)
            served = request["custom_id"] not in self.batch_failures
            reply = self.reply(request["body"]) if served else failure(500)
            response = {"status_code": reply.status, "body": json.loads(reply.body)}
            lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
        return "\n".join(reversed(lines)).encode()


@contextmanager
def serve() -> Iterator[OpenAIServer]:
    """Run a server on a free port of loopback."""
    httpd = _HttpServer(("127.0.0.1", 0), _Handler)
    server = httpd.scripted = OpenAIServer(f"http://127.0.0.1:{httpd.server_port}/v1")
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    scripted: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    @property
    def scripted(self) -> OpenAIServer:
        return self.server.scripted

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.scripted.keys.append(self.headers["Authorization"])
        self.scripted.headers.append(dict(self.headers))
        self.path, _, query = self.path.partition("?")
        self.scripted.paths.append(self.path)
        self.scripted.queries.append(query)
        if self.path.endswith(("/chat/completions", "/messages")):
            self._send(self.scripted.reply(json.loads(data)))
        elif self.path == EMBEDDINGS:
            self._send(self.scripted.embeddings(json.loads(data)))
        elif not self.scripted.takes_batches:
            self._send(failure(500))
        elif self.path == "/v1/files":
            self._send(Reply(json.dumps(self.scripted.upload(data)).encode()))
        elif self.path == "/v1/batches":
            asked = json.loads(data)
            file_id = asked["input_file_id"]
            self.scripted.batches[f"batch_{file_id}"] = asked
            self._send(Reply(json.dumps(self.scripted.batch(file_id)).encode()))
        else:
            self._send(failure(404))

    def do_GET(self) -> None:
        _, _, kind, name, *rest = [*self.path.partition("?")[0].split("/"), ""]
        if kind == "batches" and not name:
            self._send(Reply(json.dumps(self.scripted.listed()).encode()))
        elif kind == "batches" and name in self.scripted.batches:
            state = self.scripted.batch(name.removeprefix("batch_"))
            known = state["status"] != "gone"
            self._send(Reply(json.dumps(state).encode()) if known else failure(404))
        elif kind == "files" and rest[:1] == ["content"]:
            self._send(Reply(self.scripted.content(name)))
        else:
            self._send(failure(404))

    def _send(self, reply: Reply) -> None:
        if reply.endless:
            self._send_endlessly(reply)
            return
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if reply.cut:
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            try:
                self.wfile.write(reply.body)
            except OSError:
                self.close_connection = True  # the client has stopped waiting

    def _send_endlessly(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(reply.endless)
                time.sleep(reply.delay)
        except OSError:
            pass  # the client has stopped listening

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as inherited
        pass
