"""Effects of the settings of the service, which is served in this process over HTTP."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # it has no stubs
import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import InputType
from semantic_memory.entrypoints.api.server import serve
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state.file_keys import FileKeys
from semantic_memory.settings import ADDRESS_FILE
from semantic_memory.testing import HashEmbedder
from tests.conftest import NOW, eventually
from tests.unit.settings_effects.case import S, Trial, effect, facts

FREE = {"service__port": 0}
SEARCH = {"user_id": "u1", "query": "tea"}
MESSAGES = {**S, "messages": [{"role": "user", "content": "I moved to Berlin in March."}]}


@dataclass(frozen=True)
class Served:
    """Result of using a service, and its log."""

    answer: Any
    """The result of the function."""
    url: str
    log: str
    """Lines on standard error."""


class Held(HashEmbedder):
    """An embedder that waits for a permission to embed a text."""

    def __init__(self, held: str) -> None:
        super().__init__()
        self.held = held
        self.permitted = threading.Event()

    def embed(self, texts: Any, input_type: InputType) -> Matrix:
        """Wait if the held text is among these."""
        if self.held in texts:
            self.permitted.wait(30)
        return super().embed(texts, input_type)


class Collector(TraceServiceServicer):
    """An OpenTelemetry collector that counts requests."""

    exports = 0

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> Any:  # noqa: N802
        """Count a request."""
        self.exports += 1
        return ExportTraceServiceResponse()


def served(
    run: Trial,
    use: Callable[[httpx.Client], Any],
    embedder: HashEmbedder | None = None,
) -> Served:
    """Serve the store as `semantic-memory serve` does, until `use` has returned."""
    found: list[Any] = []
    ended = threading.Event()
    announced = run.settings.data_dir / ADDRESS_FILE

    def work() -> None:
        try:
            assert eventually(lambda: ended.is_set() or said_in(announced))
            if not ended.is_set():
                url = json.loads(announced.read_text())["url"]
                with httpx.Client(base_url=url, timeout=60) as client:
                    assert eventually(lambda: listening(client))
                    found.extend([url, use(client)])
        finally:
            if not ended.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    worker = threading.Thread(target=work)
    with restored(), redirect_stderr(io.StringIO()) as log:
        worker.start()
        try:
            serve(run.settings, embedder or HashEmbedder())
        except SystemExit:
            pass  # as the signal asks
        finally:
            ended.set()
            worker.join()
    url, answer = found
    return Served(answer, url, log.getvalue())


def said_in(file: Path) -> bool:
    """Return True once a file has a content."""
    return file.exists() and file.stat().st_size > 0


def listening(client: httpx.Client) -> bool:
    """Return True once a connection is answered."""
    try:
        return client.get("/healthz").status_code > 0
    except httpx.TransportError:
        return False


@contextmanager
def restored() -> Iterator[None]:
    """Restore the handling of signals and of logging after a service."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    of_package = logging.getLogger("semantic_memory").level
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.getLogger("semantic_memory").setLevel(of_package)


def status(client: httpx.Client) -> int:
    """Return the status of a search."""
    return client.post("/v1/search", json=SEARCH).status_code


@effect("service.workers", 2, was="served", becomes="2 workers need store.url", **FREE)
def serving_a_directory(run: Trial) -> str:
    try:
        return "served" if served(run, status).answer == 200 else "failed"
    except ConfigurationError as error:
        return str(error).partition(":")[0]


@effect("service.host", "0.0.0.0", was="127.0.0.1", becomes="refused", **FREE)
def address_without_a_key(run: Trial) -> str:
    try:
        return httpx.URL(served(run, status).url).host
    except ConfigurationError as error:
        return "refused" if "no API key" in str(error) else str(error)


@effect("service.port", 0, was=True, becomes=False)
def listens_on_8321_or_finds_it_taken(run: Trial) -> bool:
    try:
        return httpx.URL(served(run, status).url).port == 8_321
    except ConfigurationError as error:
        return "port 8321" in str(error)


@effect("service.threads", 1, was=True, becomes=False, **FREE)
def answered_beside_a_slow_request(run: Trial) -> bool:
    embedder = Held("slow")

    def use(client: httpx.Client) -> bool:
        slow = threading.Thread(
            target=lambda: client.post("/v1/search", json={**SEARCH, "query": "slow"}, timeout=20)
        )
        slow.start()
        try:
            answer = client.post("/v1/search", json=SEARCH, timeout=run.patience)
            return answer.status_code == 200
        except httpx.ReadTimeout:
            return False
        finally:
            embedder.permitted.set()
            slow.join()

    return bool(served(run, use, embedder).answer)


@effect("service.connections", 1, was=200, becomes=503, **FREE)
def of_one_connection(run: Trial) -> int:
    return int(served(run, status).answer)


@effect("service.body_bytes", 1_000, was=200, becomes=413, **FREE)
def of_a_long_body(run: Trial) -> int:
    long = {**SEARCH, "query": "tea " * 300}
    return int(served(run, lambda http: http.post("/v1/search", json=long).status_code).answer)


@effect("service.body_seconds", 0.1, was=False, becomes=True, **FREE)
def a_body_that_does_not_come_is_refused(run: Trial) -> bool:
    def use(client: httpx.Client) -> bool:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as waiting:
            waiting.settimeout(run.patience)
            waiting.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n")
            waiting.sendall(b"Content-Type: application/json\r\n\r\n{")
            try:
                return b" 408 " in waiting.recv(1_000)
            except TimeoutError:
                return False

    return bool(served(run, use).answer)


@effect("service.header_bytes", 2_000, was=200, becomes=400, **FREE)
def of_long_headers(run: Trial) -> int:
    headers = {"X-Long": "x" * 4_000}
    return int(served(run, lambda http: http.get("/healthz", headers=headers).status_code).answer)


@effect("service.header_seconds", 0.1, was=False, becomes=True, **FREE)
def a_connection_without_a_request_is_closed(run: Trial) -> bool:
    def use(client: httpx.Client) -> bool:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as waiting:
            waiting.settimeout(run.patience)
            waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
            try:
                return waiting.recv(1_000) == b""
            except TimeoutError:
                return False

    return bool(served(run, use).answer)


@effect("service.requests_per_minute", 1, was=[200, 200], becomes=[200, 429], **FREE)
def of_two_requests_with_a_key(run: Trial) -> list[int]:
    run.settings.data_dir.mkdir()
    token = FileKeys(run.settings.data_dir).create("test", ("*",), tuple(Right), NOW)[1]

    def use(client: httpx.Client) -> list[int]:
        client.headers["Authorization"] = f"Bearer {token}"
        return [status(client), status(client)]

    return list(served(run, use).answer)


@effect("service.drain_seconds", 0, was=True, becomes=False, **FREE)
def extracted_at_the_end(run: Trial) -> bool:
    taken = served(run, lambda http: http.post("/v1/messages", json=MESSAGES).status_code)
    assert taken.answer == 202
    return facts(run.open()) != []


@effect(
    "service.cors_origins", ["https://a.example"], was=None, becomes="https://a.example", **FREE
)
def an_origin_that_may_call(run: Trial) -> str | None:
    def use(client: httpx.Client) -> str | None:
        answer = client.get("/healthz", headers={"Origin": "https://a.example"})
        origin: str | None = answer.headers.get("access-control-allow-origin")
        return origin

    origin: str | None = served(run, use).answer
    return origin


@effect("service.log_level", "WARNING", was=True, becomes=False, **FREE)
def requests_are_logged(run: Trial) -> bool:
    return "POST /v1/search 200" in served(run, status).log


@effect("service.log_format", "text", was=True, becomes=False, **FREE)
def lines_are_json(run: Trial) -> bool:
    (line,) = re.findall(r".*POST /v1/search 200.*", served(run, status).log)
    return bool(line.startswith("{") and json.loads(line)["status"] == 200)


@effect("service.tracing", True, was=False, becomes=True, **FREE)
def spans_are_sent(run: Trial) -> bool:
    collector, server = Collector(), grpc.server(futures.ThreadPoolExecutor(1))
    add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    run.patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    server.start()
    try:
        served(run, status)
    finally:
        server.stop(None).wait()
    return collector.exports > 0
