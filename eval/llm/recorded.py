"""Recorded answers of a language model, and the server on loopback that replays them.

Each answer was written by a strong model that saw nothing but the request. It is found again by the
messages of the request. An answer is stale if the instructions or the schema have changed since, or
if it names a known fact that the request no longer shows.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pydantic import Field

from eval.llm.planted import Planting
from semantic_memory.domain.values import Value

ANSWERS = "answers.jsonl"


class Recorded(Value):
    """A request, as far as an answer depends on it, and its answer."""

    key: str
    """Digest of the messages."""
    prompt: str
    """Digest of the instructions and the schema."""
    known: tuple[str, ...]
    """The known facts, in the order of their numbers."""
    answer: dict[str, Any] = Field(default_factory=dict)


def document_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON document in a request."""
    found: dict[str, Any] = json.loads(request["messages"][-1]["content"])
    return found


def recordable(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Recorded:
    """Return the recording of a request and its answer."""
    document = document_of(request)
    return Recorded(
        key=_digest(document["messages"]),
        prompt=_digest([request["messages"][0]["content"], request.get("response_format")]),
        known=tuple(one["fact"] for one in document["known"]),
        answer=dict(answer),
    )


class Answers:
    """Recorded answers by the messages of their requests. Thread-safe."""

    def __init__(self, recorded: Mapping[str, Recorded], planting: Planting | None = None) -> None:
        """Replay what is `recorded`, with what a `planting` adds."""
        self._recorded = recorded
        self._planting = planting
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        """Every request, in order."""
        self.stale: list[str] = []
        """Reasons why answers no longer fit their requests."""
        self.missing: list[dict[str, Any]] = []
        """Requests without an answer."""

    @classmethod
    def read(cls, data: Path, planting: Planting | None = None) -> Answers:
        """Read the recording in a directory."""
        path = data / ANSWERS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        recorded = [Recorded.model_validate_json(line) for line in lines]
        return cls({one.key: one for one in recorded}, planting)

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request, with the numbers that known facts have in it."""
        asked = recordable(request, {})
        found = self._recorded.get(asked.key)
        with self._lock:
            self.requests.append(request)
            if found is None:
                self.missing.append(request)
                return None
            if found.prompt != asked.prompt:
                self.stale.append(f"{asked.key}: the prompt has changed since it was answered")
            answer = self._renumbered(found, asked)
            if self._planting is not None:
                answer["facts"] = self._planting.plant(document_of(request), answer["facts"])
            return answer

    def _renumbered(self, found: Recorded, asked: Recorded) -> dict[str, Any]:
        numbers = {fact: number for number, fact in enumerate(asked.known, 1)}

        def now(number: int) -> list[int]:
            known = found.known[number - 1]
            if known not in numbers:
                self.stale.append(f"{asked.key}: “{known}” is no longer shown")
            return [numbers[known]] if known in numbers else []

        facts = [
            {**fact, "replaces": [new for one in fact["replaces"] for new in now(one)]}
            for fact in found.answer["facts"]
        ]
        ends = [{**end, "id": new} for end in found.answer["ends"] for new in now(end["id"])]
        return {**found.answer, "facts": facts, "ends": ends}


def leave_requests(answers: Answers, directory: Path) -> None:
    """Write the requests that have no answer to a directory, as `KEY.request.json`."""
    directory.mkdir(parents=True, exist_ok=True)
    for request in answers.missing:
        key = recordable(request, {}).key
        text = json.dumps(request, ensure_ascii=False, indent=1)
        (directory / f"{key}.request.json").write_text(text, encoding="utf-8")


def adopt(data: Path, directory: Path) -> None:
    """Add the answers that are found beside requests, as `KEY.answer.json`, to the recording."""
    path = data / ANSWERS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    recorded = {one.key: one for one in map(Recorded.model_validate_json, lines)}
    for written in sorted(directory.glob("*.answer.json")):
        request = written.with_name(written.name.replace(".answer.", ".request."))
        one = recordable(
            json.loads(request.read_text(encoding="utf-8")),
            json.loads(written.read_text(encoding="utf-8")),
        )
        recorded[one.key] = one
    text = "".join(f"{one.model_dump_json()}\n" for one in recorded.values())
    path.write_text(text, encoding="utf-8")


@contextmanager
def serve(answers: Answers, count: Any) -> Iterator[str]:
    """Serve answers as an OpenAI-compatible endpoint on a free port of loopback; yield its URL.

    `count` returns the number of tokens of a text. A request without an answer is refused.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = answers.answer(request)
            if answer is None:
                error = {"message": "no answer to this request is recorded", "code": None}
                self._send(404, {"error": error})
                return
            content = json.dumps(answer, ensure_ascii=False)
            read = sum(count(one["content"]) for one in request["messages"])
            message = {"role": "assistant", "content": content, "refusal": None}
            self._send(
                200,
                {
                    "id": "recorded",
                    "object": "chat.completion",
                    "created": 0,
                    "model": request["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                    "usage": {"prompt_tokens": read, "completion_tokens": count(content)},
                },
            )

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
