"""Rights at their edges: a key that only writes reads nothing, and strangers hold nobody up."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from semantic_memory import Message
from semantic_memory.client import Client
from semantic_memory.domain.errors import AccessDeniedError, InvalidInputError
from tests.conftest import eventually
from tests.service.conftest import Serve, Served, W

MAYA: Any = {"user_id": "maya"}
KNOWN = "Maya keeps the blue ledger in Oslo"
OLD = "Maya kept the red ledger in Bergen"


@pytest.fixture
def writer(service: Served) -> httpx.Client:
    """Return a client that may only write, for a user with memories."""
    service.memory.add(KNOWN, **MAYA, tags=["hidden"], metadata={"hidden": "yes"})
    said = [Message(role="user", content="I hid the green ledger.")]
    service.memory.observe(said, **MAYA, session_id="s1")
    service.memory.profile.update({"work_context": "Hidden work."}, **MAYA)
    return service.client(service.token(["maya"], [W]))


def ids(service: Served) -> list[str]:
    return [fact.id for fact in service.memory.list(**MAYA, filters="category:personal")]


def writes(service: Served) -> dict[str, tuple[str, str, Any]]:
    (fact_id,) = ids(service)
    memory, of_user = f"/v1/memories/{fact_id}", "?user_id=maya"
    return {
        "add a known text": ("POST", "/v1/memories", {**MAYA, "content": KNOWN}),
        "add many": ("POST", "/v1/transfer/add-many", {**MAYA, "items": [{"content": KNOWN}]}),
        "update": ("PATCH", memory + of_user, {"importance": 0.4}),
        "restore": ("POST", f"/v1/history/restore/{fact_id}{of_user}", {}),
        "update the profile": ("PATCH", f"/v1/profile{of_user}", {"top_of_mind": "Tea."}),
        "create a session": ("POST", "/v1/sessions", MAYA),
        "load a session": ("POST", "/v1/sessions/load", {**MAYA, "session_id": "s1"}),
        "configure": ("PATCH", "/v1/sessions", {**MAYA, "session_id": "s1", "fades": False}),
        "close a session": ("POST", "/v1/sessions/close", {**MAYA, "session_id": "s1"}),
    }


def test_a_write_only_key_reads_nothing(service: Served, writer: httpx.Client) -> None:
    for name, (method, path, body) in writes(service).items():
        answer = writer.request(method, path, json=body)
        assert answer.is_success, (name, answer.text)
        found = answer.json()
        items = found.get("items", [found])
        assert all(one.keys() == {"id"} for one in items), (name, found)
        assert "idden" not in answer.text, name


def test_a_write_only_key_is_shown_no_dry_run(service: Served, writer: httpx.Client) -> None:
    asked = {**MAYA, "entity": "Maya", "dry_run": True}
    assert writer.post("/v1/forget", json=asked).status_code == 403
    done = writer.post("/v1/forget", json={**asked, "dry_run": False})
    assert done.json() == {
        "forgotten": 1,
        "memories": [],
        "sentences": [],
        "proof": None,
        "items": 0,
        "warning": "",
        "kept_in": [],
    }


def test_the_client_says_that_it_may_not_read_what_it_wrote(
    service: Served, writer: httpx.Client
) -> None:
    token = writer.headers["authorization"].removeprefix("Bearer ")
    with Client(service.url, api_key=token) as client:
        with pytest.raises(AccessDeniedError, match="was written, but this key has no right"):
            client.add("Maya likes figs", **MAYA)
        with pytest.raises(AccessDeniedError, match="was written"):
            client.transfer.add_many([{"content": "Maya likes figs"}], **MAYA)
    assert any("figs" in fact.content for fact in service.memory.list(**MAYA))


FOREIGN = ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"]


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("form", ["application/json", "text/plain"])
def test_pages_of_other_sites_write_nothing_without_a_key(
    service: Served, origin: str, form: str
) -> None:
    headers = {"Origin": origin, "Content-Type": form}
    for path in ("/v1/memories", "/v1/transfer/import?user_id=maya", "/v1/flush", "/mcp"):
        answer = service.client().post(path, content=b'{"user_id": "m"}', headers=headers)
        assert answer.status_code == 403, path
    assert service.memory.admin.users() == []


def test_the_services_own_pages_and_configured_ones_write(serve: Serve) -> None:
    service = serve(cors_origins=["https://a.example"])
    for origin in (service.url, service.url.upper(), "https://a.example"):
        answer = service.client().post(
            "/v1/memories", json={**MAYA, "content": "Tea"}, headers={"Origin": origin}
        )
        assert answer.status_code == 201, origin


@pytest.mark.parametrize("host", ["LOCALHOST", "LocalHost:8321", "127.0.0.1", "[::1]:80"])
def test_host_names_compare_without_case(service: Served, host: str) -> None:
    answer = service.client().get("/v1/profile?user_id=maya", headers={"Host": host})
    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.nu"])
def test_other_host_names_are_refused(service: Served, host: str) -> None:
    answer = service.client().get("/v1/profile?user_id=maya", headers={"Host": host})
    assert answer.status_code == 421


def test_half_open_connections_shut_no_keyed_client_out(serve: Serve) -> None:
    service = serve(connections=40, header_seconds=30)
    client = service.client(service.token())
    with ExitStack() as stack:
        for _ in range(120):
            half = socket.create_connection(("127.0.0.1", service.port))
            stack.enter_context(half)
            half.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        for _ in range(10):
            assert client.get("/v1/profile?user_id=maya").status_code == 200


def test_headers_that_do_not_come_end_the_connection(serve: Serve) -> None:
    service = serve(header_seconds=0.3)
    with socket.create_connection(("127.0.0.1", service.port)) as slow:
        slow.settimeout(20)
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")

        def closed() -> bool:
            try:
                slow.sendall(b"X-Slow: a\r\n")
                time.sleep(0.05)
            except OSError:
                return True
            return False

        assert eventually(closed)


def test_headers_that_never_end_are_read_to_their_limit(service: Served) -> None:
    part = b"X-Long: " + b"x" * 10_000 + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", service.port)) as flood:
        flood.settimeout(20)
        flood.sendall(b"GET /healthz HTTP/1.1\r\n")
        try:
            for _ in range(5_000):
                flood.sendall(part)
                sent += len(part)
        except OSError:
            pass
    assert sent < 10_000_000


def test_one_header_that_never_ends_is_read_to_its_limit(service: Served) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", service.port)) as flood:
        flood.settimeout(20)
        flood.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ")
        try:
            for _ in range(5_000):
                flood.sendall(b"x" * 10_000)
                sent += 10_000
        except OSError:
            pass
    assert sent < 10_000_000


def test_a_long_body_behind_short_headers_is_taken(service: Served) -> None:
    body = {**MAYA, "content": "x" * 900_000}
    assert service.client().post("/v1/memories", json=body, timeout=60).status_code == 201


LONG = "tea " * 2_049


def test_queries_are_at_most_8_kilobytes_everywhere(service: Served) -> None:
    http = service.client()
    for path in ("/v1/search", "/v1/context", "/v1/forget"):
        answer = http.post(path, json={**MAYA, "query": LONG})
        assert answer.status_code == 422, path
        assert "8,192" in answer.text, path
    with pytest.raises(InvalidInputError, match="8,192"):
        service.memory.search(LONG, **MAYA)
    with pytest.raises(InvalidInputError, match="8,192"):
        service.memory.context(LONG, **MAYA)
    with Client(service.url) as client, pytest.raises(InvalidInputError, match="8,192"):
        client.search(LONG, **MAYA)
    assert http.post("/v1/search", json={**MAYA, "query": "ü" * 4_096}).status_code == 200


def test_a_session_recalls_for_a_message_longer_than_a_query(service: Served) -> None:
    service.memory.add("The harbour opens at nine", **MAYA)
    with service.memory.sessions.open(**MAYA, session_id="long") as session:
        session.push(user=f"{'word ' * 40_000} When does the harbour open?", assistant="At nine.")
        assert session.messages
