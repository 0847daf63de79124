"""Around the routes: problems, limits, idempotency, transfer, metrics, logs, shutdown."""

from __future__ import annotations

import json
import logging
import socket
import threading

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from semantic_memory import Message, SemanticMemory
from semantic_memory.domain.fields import JOBS, ON_DEMAND
from semantic_memory.entrypoints.api.server import configure_logging
from semantic_memory.groups.admin import Admin
from semantic_memory.settings import ServiceSettings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import eventually
from tests.service.conftest import Serve, Served, held_up, served

TEA = {"user_id": "maya", "content": "Prefers tea"}
LINES = {"Content-Type": "application/x-ndjson"}


def test_errors_are_problems_that_name_the_request(http):
    for answer, status, name in (
        (http.get("/v1/nothing"), 404, "not-found"),
        (http.put("/v1/memories"), 405, "method-not-allowed"),
        (http.get("/v1/memories/x?user_id=maya"), 404, "not-found"),
        (http.post("/v1/memories", content=b"{"), 422, "invalid-input"),
        (http.post("/v1/memories", json={**TEA, "mood": "good"}), 422, "invalid-input"),
        (http.get("/v1/memories?user_id=maya&mood=good"), 422, "invalid-input"),
        (http.get("/v1/memories?user_id=maya&cursor=x"), 404, "not-found"),
        (http.post("/v1/forget", json={"user_id": "maya"}), 422, "invalid-input"),
        (http.post("/v1/jobs/run", json={"jobs": ["juggle"]}), 422, "invalid-input"),
    ):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        body = answer.json()
        assert body["type"] == f"/problems/{name}"
        assert body["request_id"] == answer.headers["x-request-id"]
        assert body["detail"]
    names = ", ".join((*JOBS, *ON_DEMAND))
    assert answer.json()["detail"].endswith(f"must be {names} or all (got 'juggle')")


def test_a_request_keeps_the_id_that_it_brings(http):
    answer = http.get("/healthz", headers={"X-Request-ID": "trace-1"})
    assert answer.headers["x-request-id"] == "trace-1"
    answer = http.get("/healthz", headers={"X-Request-ID": "a" * 65})
    assert answer.headers["x-request-id"] != "a" * 65


def test_a_bug_shows_nothing_of_its_inside(service, monkeypatch, caplog):
    def broken() -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Admin, "stats", broken)
    answer = service.client().get("/v1/admin/stats")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["request_id"]


def test_pages_follow_one_another(http):
    contents = {f"Fact number {number}" for number in range(7)}
    for content in contents:
        http.post("/v1/memories", json={"user_id": "maya", "content": content})
    seen, cursor = [], None
    for _ in range(4):
        asked = {"user_id": "maya", "limit": 3, **({"cursor": cursor} if cursor else {})}
        page = http.get("/v1/memories", params=asked).json()
        seen += [item["content"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == 7
    assert {*seen} == contents


# ---------------------------------------------------------------- bodies


def test_a_body_that_is_too_large_is_refused_before_it_is_read(serve: Serve):
    service = serve(body_bytes=2_000)
    http = service.client()
    answer = http.post("/v1/memories", json={**TEA, "content": "x" * 3_000})
    assert answer.status_code == 413
    assert "/v1/transfer/import" in answer.json()["detail"]

    def chunks():
        yield b'{"user_id": "maya", "content": "'
        for _ in range(10):
            yield b"x" * 1_000

    answer = http.post("/v1/memories", content=chunks())
    assert answer.status_code == 413
    assert service.memory.list(user_id="maya") == []


def raw(service: Served, *parts: bytes) -> socket.socket:
    """Return a connection on which something has been sent."""
    connection = socket.create_connection(("127.0.0.1", service.port))
    for part in parts:
        connection.sendall(part)
    return connection


HALF = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(serve: Serve):
    service = serve(body_seconds=0.2)
    with raw(service, HALF, b"Content-Length: 100\r\n\r\n", b'{"user_id":') as slow:
        assert b" 408 " in slow.recv(1_000)


def test_a_connection_that_breaks_harms_nobody(service: Served):
    raw(service, HALF, b"Content-Length: 100\r\n\r\n", b'{"user_id":').close()
    line = b"POST /v1/transfer/import?user_id=maya HTTP/1.1\r\nHost: localhost\r\n"
    body = b"Content-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n{}"
    raw(service, line, body).close()
    assert service.client().post("/v1/memories", json=TEA).status_code == 201


def test_many_slow_clients_keep_nobody_waiting(serve: Serve):
    service = serve(threads=2)
    slow = [raw(service, HALF, b"Content-Length: 100\r\n\r\n{") for _ in range(20)]
    assert service.client().post("/v1/memories", json=TEA).status_code == 201
    for connection in slow:
        connection.close()


# ---------------------------------------------------------------- idempotency


def test_a_write_that_is_sent_again_happens_once(service: Served):
    http = service.client(headers={"Idempotency-Key": "k1"})
    first, again = (http.post("/v1/memories", json=TEA) for _ in range(2))
    assert first.json() == again.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.status_code == 201
    assert service.memory.list(user_id="maya")[0].version == 1
    fact_id = first.json()["id"]
    path = f"/v1/memories/{fact_id}?user_id=maya"
    deleted, again = (http.delete(path) for _ in range(2))
    assert (deleted.status_code, again.status_code) == (204, 204)
    assert "idempotency-replayed" not in deleted.headers
    assert again.headers["idempotency-replayed"] == "true"


def test_a_memory_that_is_deleted_already_is_deleted_without_a_key_too(service: Served):
    fact = service.memory.add("Prefers tea", user_id="maya")
    path = f"/v1/memories/{fact.id}"
    http = service.client()
    statuses = [http.delete(path, params={"user_id": "maya"}).status_code for _ in range(2)]
    assert statuses == [204, 204]
    assert http.get(path, params={"user_id": "maya"}).status_code == 404
    assert http.delete(path, params={"user_id": "lea"}).status_code == 404


def test_messages_without_ids_are_the_same_when_sent_again(service: Served):
    said = {"user_id": "maya", "session_id": "s", "messages": [{"role": "user", "content": "Hi"}]}
    http = service.client(headers={"Idempotency-Key": "k1"})
    http.post("/v1/messages", json=said)
    service.app.state.replies.close()  # as if the answer had been lost with the service
    service.app.state.replies.__init__(service.directory / "other.sqlite3", service.clock)
    again = http.post("/v1/messages", json=said).json()
    assert (again["accepted"], again["duplicates"]) == (0, 1)


def test_a_key_is_good_for_one_request_of_one_caller_and_a_day(service: Served):
    mine, yours = service.token(["maya"]), service.token(["maya"])
    key = {"Idempotency-Key": "k1"}
    http = service.client(mine, headers=key)
    first = http.post("/v1/memories", json=TEA)
    other = http.post("/v1/memories", json={**TEA, "content": "Prefers coffee"})
    assert other.status_code == 409
    assert "another request" in other.json()["detail"]
    theirs = service.client(yours, headers=key).post("/v1/memories", json=TEA)
    assert "idempotency-replayed" not in theirs.headers
    denied = http.post("/v1/memories", json={**TEA, "user_id": "lea"})
    assert denied.status_code in (403, 409)
    assert first.status_code == 201


def test_a_failure_is_not_kept(service: Served):
    http = service.client(headers={"Idempotency-Key": "k1"})
    assert http.delete("/v1/memories/x?user_id=maya").status_code == 404
    assert "idempotency-replayed" not in http.delete("/v1/memories/x?user_id=maya").headers


def test_the_second_of_two_at_once_is_told_to_wait(service: Served, monkeypatch):
    http = service.client(headers={"Idempotency-Key": "k1"})
    answers: list[httpx.Response] = []
    first = threading.Thread(target=lambda: answers.append(http.post("/v1/memories", json=TEA)))
    with held_up(service.memory, monkeypatch) as entered:
        first.start()
        assert entered.wait(60)
        second = http.post("/v1/memories", json=TEA)
    first.join()
    assert (second.status_code, second.headers["retry-after"]) == (409, "1")
    assert answers[0].status_code == 201


# ---------------------------------------------------------------- transfer


def test_what_is_exported_can_be_imported(service: Served):
    said = [Message(id=f"m{n}", role="user", content=f"Said {n}") for n in range(250)]
    service.memory.observe(said, user_id="maya", session_id="s")
    service.memory.flush()
    http = service.client()
    exported = http.get("/v1/transfer/export?user_id=maya")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    assert len(exported.text.splitlines()) >= 251
    path = "/v1/transfer/import?user_id=lea"
    for new in (len(said), 0):
        answer = http.post(path, content=exported.content, headers=LINES)
        assert answer.json()["new"] >= new
    assert len(service.memory.sessions.messages(user_id="lea", session_id="s")) == 250


def test_an_export_may_be_one_document(serve: Serve):
    service = serve(body_bytes=2_000)
    service.memory.add("Owns a red canoe", user_id="maya")
    http = service.client()
    document = http.get("/v1/transfer/export?user_id=maya&format=json")
    assert document.headers["content-type"] == "application/json"
    assert [fact["content"] for fact in document.json()["facts"]] == ["Owns a red canoe"]
    answer = http.post("/v1/transfer/import?user_id=lea", json=document.json()).json()
    (held,) = service.memory.list(user_id="lea")
    assert answer == {"new": 1, "renamed": {document.json()["facts"][0]["id"]: held.id}}
    assert http.post("/v1/transfer/import?user_id=lea", json=["x"]).status_code == 422
    assert http.get("/v1/transfer/export?user_id=maya&format=yaml").status_code == 422
    long = http.post("/v1/transfer/import?user_id=lea", json={"x": "x" * 3_000})
    assert (long.status_code, "JSON lines" in long.json()["detail"]) == (413, True)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"nonsense\n", "line 1: not JSON"),
        (
            b'{"kind": "export", "schema_version": 1, "user_id": "u"}\n\n[]',
            "line 3: not a JSON obj",
        ),
        (b'{"kind": "mood"}', "kind must be"),
        (b"[" * 100_000, "line 1: not JSON"),
    ],
)
def test_lines_that_can_not_be_used_are_named(http, body, words):
    answer = http.post("/v1/transfer/import?user_id=maya", content=body, headers=LINES)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_an_import_has_no_limit_but_its_lines_have(serve: Serve):
    http = serve(body_bytes=2_000).client()
    path = "/v1/transfer/import?user_id=maya"
    header = {"kind": "export", "schema_version": 1, "user_id": "u"}
    body = (json.dumps(header) + "\n").encode() * 1_000
    assert http.post(path, content=body, headers=LINES).json() == {"new": 0}
    assert http.post(path, content=b"x" * 3_000, headers=LINES).status_code == 413
    assert http.post(path, content=body, headers={"Content-Type": "text/plain"}).status_code == 415


# ---------------------------------------------------------------- operation


def test_it_says_that_it_is_alive_and_ready(http):
    assert http.get("/healthz").json()["status"] == "ok"
    assert http.get("/readyz").json()["status"] == "ready"


def test_a_store_that_can_not_be_read_is_not_ready(service: Served):
    service.memory.close()
    answer = service.client().get("/readyz")
    assert answer.status_code >= 500


def test_metrics_count_what_happens_and_name_nobody(service: Served):
    http = service.client()
    http.post("/v1/memories", json={**TEA, "user_id": "maya-the-user"})
    http.post("/v1/search", json={"user_id": "maya-the-user", "query": "tea"})
    text = http.get("/metrics").text
    assert "semantic_memory_search_seconds_count 1.0" in text
    assert 'semantic_memory_memories{category="personal",status="active"} 1.0' in text
    assert 'route="/v1/search",status="200"} 1.0' in text
    assert "maya-the-user" not in text


def test_other_web_pages_are_shut_out_unless_they_are_named(serve: Serve):
    origin = {"Origin": "https://app.example.org"}
    preflight = {**origin, "Access-Control-Request-Method": "POST"}
    http = serve(cors_origins=("https://app.example.org",)).client()
    allowed = http.options("/v1/search", headers=preflight)
    assert allowed.headers["access-control-allow-origin"] == origin["Origin"]
    answer = http.post("/v1/search", json={"user_id": "u", "query": "x"}, headers=origin)
    assert answer.headers["access-control-allow-origin"] == origin["Origin"]
    other = {**preflight, "Origin": "https://evil.example"}
    assert "access-control-allow-origin" not in http.options("/v1/search", headers=other).headers


def test_by_default_every_other_web_page_is_shut_out(http):
    answer = http.get("/healthz", headers={"Origin": "https://app.example.org"})
    assert "access-control-allow-origin" not in answer.headers


def test_the_log_tells_of_requests_without_what_they_say(service: Served, caplog):
    with caplog.at_level(logging.INFO, logger="semantic_memory"):
        service.client().post("/v1/memories", json={**TEA, "content": "A secret wish"})
        service.client().post("/v1/search", json={"user_id": "maya", "query": "secret wish?"})
        assert eventually(lambda: len(caplog.records) >= 2)
    record = caplog.records[0]
    assert (record.method, record.route, record.status) == ("POST", "/v1/memories", 201)
    assert not any(
        "secret" in str(vars(record)) or "maya" in str(vars(record)) for record in caplog.records
    )


def test_the_log_is_json(capsys):
    configure_logging(ServiceSettings())
    try:
        logging.getLogger("semantic_memory.service").info("hello", extra={"number": 3})
        line = json.loads(capsys.readouterr().err)
    finally:
        logging.getLogger().handlers.clear()
    assert line["message"] == "hello"
    assert (line["level"], line["component"], line["number"]) == (
        "INFO",
        "semantic_memory.service",
        3,
    )


def test_requests_are_traced_with_what_happened_meanwhile(serve: Serve):
    exporter = InMemorySpanExporter()
    service = serve(exporter=exporter)
    http = service.client()
    fact = http.post("/v1/memories", json={"user_id": "maya", "content": "Drinks oolong"}).json()
    http.post("/v1/context", json={"user_id": "maya", "query": "oolong", "budget": 500})
    http.get(f"/v1/memories/{fact['id']}", params={"user_id": "maya"})
    http.get("/v1/memories/unknown", params={"user_id": "maya"})
    http.get("/healthz")
    wanted = {"POST /v1/context", "GET /v1/memories/{memory_id}", "embed", "search", "pack"}
    assert eventually(lambda: wanted <= {span.name for span in exporter.get_finished_spans()})
    spans = exporter.get_finished_spans()
    asked = next(span for span in spans if span.name == "POST /v1/context")
    parts = [span for span in spans if span.name in ("embed", "search", "pack")]
    assert {span.parent.span_id for span in parts if span.parent} >= {asked.context.span_id}
    pack = next(span for span in spans if span.name == "pack")
    assert {"tokens", "left_out"} <= {*(pack.attributes or {})}
    assert (asked.attributes or {})["http.route"] == "/v1/context"
    shown = " ".join(span.to_json() for span in spans)
    for secret in ("maya", "oolong", fact["id"], "healthz"):
        assert secret not in shown


def test_at_the_end_what_was_taken_in_is_extracted(tmp_path):
    with served(tmp_path / "drained") as service:
        said = [{"role": "user", "content": "I moved to Berlin in March."}]
        body = {"user_id": "maya", "session_id": "s", "messages": said}
        assert service.client().post("/v1/messages", json=body).status_code == 202
    with SemanticMemory.open(
        tmp_path / "drained", embedder=HashEmbedder(), index=InMemoryIndex()
    ) as memory:
        extracted = [f for f in memory.list(user_id="maya") if f.category != "conversation"]
        assert extracted
