"""Access control: every route, every kind of key."""

from __future__ import annotations

import copy
import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from semantic_memory import Message
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.messages import SessionKey
from semantic_memory.entrypoints.api.access import is_loopback
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state.file_keys import FileKeys
from semantic_memory.entrypoints.state.local_rates import Bucket
from semantic_memory.pipeline.facts import verbatim_id
from tests.service.conftest import NOW, A, R, Served, W, served

ALL_USERS: dict[str, Any] = {}  # needs a key that covers every user

# Every route, the right it needs, and a request that names the user; None: no user is named.
ASKED = verbatim_id(SessionKey("maya", "said"), "asked")
REQUESTS: dict[tuple[str, str], tuple[Right | None, dict[str, Any] | None]] = {
    ("POST", "/v1/messages"): (
        W,
        {"json": {"session_id": "s", "messages": [{"role": "user", "content": "Hello"}]}},
    ),
    ("POST", "/v1/sessions/pop"): (W, {"json": {"session_id": "taken-back"}}),
    ("POST", "/v1/memories"): (W, {"json": {"content": "Likes tea"}}),
    ("GET", "/v1/memories"): (R, {"params": {}}),
    ("GET", "/v1/memories/{memory_id}"): (R, {"params": {}}),
    ("PATCH", "/v1/memories/{memory_id}"): (W, {"params": {}, "json": {"importance": 0.9}}),
    ("DELETE", "/v1/memories/{memory_id}"): (W, {"params": {}}),
    ("GET", "/v1/history/versions/{memory_id}"): (R, {"params": {}}),
    ("GET", "/v1/history/explain/{memory_id}"): (R, {"params": {}}),
    ("GET", "/v1/profile/layout"): (R, {"params": {}}),
    ("POST", "/v1/search"): (R, {"json": {"query": "tea"}}),
    ("POST", "/v1/context"): (R, {"json": {"query": "tea"}}),
    ("POST", "/v1/transfer/add-many"): (W, {"json": {"items": [{"content": "Likes tea"}]}}),
    ("POST", "/v1/history/restore/{memory_id}"): (W, {"params": {}, "json": {}}),
    ("POST", "/v1/forget"): (W, {"json": {"tag": "tea"}}),
    ("GET", "/v1/profile"): (R, {"params": {}}),
    ("PATCH", "/v1/profile"): (W, {"params": {}, "json": {"top_of_mind": "Tea."}}),
    ("GET", "/v1/profile/history"): (R, {"params": {"field": "top_of_mind"}}),
    ("GET", "/v1/profile/tags"): (R, {"params": {}}),
    ("GET", "/v1/history/audit"): (R, {"params": {}}),
    ("GET", "/v1/events"): (R, {"params": {}}),
    ("GET", "/v1/history/requests"): (R, {"params": {}}),
    ("POST", "/v1/history/settle"): (W, {"json": {"request_id": ASKED, "answer": "decline"}}),
    ("GET", "/v1/history/retired"): (R, {"params": {}}),
    ("GET", "/v1/history/to-confirm"): (R, {"params": {}}),
    ("GET", "/v1/history/labels"): (R, {"params": {}}),
    ("POST", "/v1/history/undo"): (W, {"json": {"day": "2020-05-03"}}),
    ("GET", "/v1/sessions"): (R, {"params": {}}),
    ("PATCH", "/v1/sessions"): (W, {"json": {"session_id": "said", "fades": True}}),
    ("POST", "/v1/sessions"): (W, {"json": {}}),
    ("POST", "/v1/sessions/load"): (W, {"json": {"session_id": "said"}}),
    ("POST", "/v1/sessions/close"): (W, {"json": {"session_id": "said"}}),
    ("GET", "/v1/sessions/messages"): (R, {"params": {"session_id": "said"}}),
    ("GET", "/v1/transfer/export"): (R, {"params": {}}),
    ("POST", "/v1/items"): (W, {"json": {"namespace": ["a"], "key": "k", "value": {}}}),
    ("GET", "/v1/items/item"): (R, {"params": {"namespace": "kept", "key": "k"}}),
    ("DELETE", "/v1/items/item"): (W, {"params": {"namespace": "a", "key": "k"}}),
    ("POST", "/v1/items/list"): (R, {"json": {}}),
    ("POST", "/v1/items/search"): (R, {"json": {"query": "tea"}}),
    ("POST", "/v1/items/namespaces"): (R, {"json": {}}),
    ("POST", "/v1/transfer/import"): (
        W,
        {"params": {}, "content": b"", "headers": {"Content-Type": "application/x-ndjson"}},
    ),
    ("POST", "/v1/flush"): (W, None),
    ("POST", "/v1/jobs/run"): (A, {"json": {"jobs": ["decay"]}}),
    ("GET", "/v1/jobs/runs"): (A, ALL_USERS),
    ("GET", "/v1/admin/stats"): (A, None),
    ("GET", "/v1/admin/users"): (A, None),
    ("GET", "/v1/admin/check"): (A, ALL_USERS),
    ("GET", "/v1/admin/ids"): (A, {"params": {"prefix": "a"}}),
    ("POST", "/v1/admin/rebuild"): (A, None),
    ("GET", "/v1/inspection/activity"): (A, None),
    ("GET", "/v1/inspection/backlog"): (A, None),
    ("GET", "/v1/inspection/webhook"): (A, ALL_USERS),
    ("GET", "/v1/inspection/changes"): (R, {"params": {}}),
    ("GET", "/v1/inspection/timelines"): (R, {"params": {}}),
    ("GET", "/v1/inspection/traces"): (R, {"params": {}}),
    ("POST", "/v1/inspection/why-not"): (R, {"json": {"query": "tea", "text": "Likes tea"}}),
    ("GET", "/v1/keys"): (A, None),
    ("GET", "/metrics"): (None, None),
    ("GET", "/v1/caller"): (None, None),
    ("GET", "/v1/ranking"): (None, None),
    ("GET", "/v1/samples"): (None, None),
}
OPEN = {
    ("GET", "/"),
    ("GET", "/docs"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
}
ELSEWHERE = {
    "/mcp",  # tested in test_mcp.py
    "/dashboard",  # in test_dashboard.py
    "/v1/inspection/webhook/dead/{event_id}",
    "/v1/keys/{key_id}",  # in test_managing_keys.py
}
LINK = {"user_id": "maya", "older": "0c5b01", "newer": "9a11f2"}
RECEIPT = {
    "user_id": "maya",
    "at": "2026-05-03T00:00:00Z",
    "forgotten": [],
    "cut": [],
    "texts": 0,
    "searched": {},
    "digest": "",
}
# The right that a route needs, a request for the user "maya", and the status with that right.
APART: dict[tuple[str, str], tuple[Right, dict[str, Any], int]] = {
    ("POST", "/v1/keys"): (A, {"json": {"name": "b", "users": ["maya"], "rights": ["admin"]}}, 201),
    ("POST", "/v1/history/accept"): (W, {"json": LINK}, 404),
    ("POST", "/v1/history/reject"): (W, {"json": LINK}, 404),
    ("POST", "/v1/admin/verify-receipt"): (A, {"json": {"receipt": RECEIPT}}, 200),
    # no trace has its name, in braces, as its id
    ("GET", "/v1/inspection/traces/{trace_id}"): (R, {"params": {"user_id": "maya"}}, 404),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("guarded") / "store") as service:
        service.token(["somebody"], [R])  # the first key closes the door for all without one
        said = [
            Message(role="user", content="Hello"),
            Message(id="asked", role="user", content="Please forget what I said about Anna."),
        ]
        service.memory.observe(said, user_id="maya", session_id="said")
        many = [Message(role="user", content=f"Hello {number}") for number in range(50)]
        service.memory.observe(many, user_id="maya", session_id="taken-back")
        service.memory.items.put(["kept"], "k", {}, user_id="maya")
        yield service


def send(
    client: httpx.Client, method: str, path: str, user_id: str, memory_id: str = "unknown"
) -> httpx.Response:
    _, options = REQUESTS[method, path]
    options = copy.deepcopy(options or {})
    if "params" in options:
        options["params"]["user_id"] = user_id
    elif "json" in options:
        options["json"]["user_id"] = user_id
    return client.request(method, path.replace("{memory_id}", memory_id), **options)


def detail(response: httpx.Response) -> Any:
    body = response.json()
    body.pop("request_id")
    return body


def refused_alike(
    found: httpx.Response, foreign: str, missing: httpx.Response, unknown: str
) -> None:
    """Check that a memory that may not be seen is refused as one that isn't there."""
    assert found.status_code == missing.status_code == 404
    said, expected = detail(found), detail(missing)
    assert said.pop("detail").replace(foreign, "ID") == (
        expected.pop("detail").replace(unknown, "ID")
    )
    assert said == expected


def test_the_matrix_knows_every_route(service):
    routes = {
        (method, route.path)
        for route in iter_route_contexts(service.app.routes)
        if route.path not in ELSEWHERE
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == REQUESTS.keys() | OPEN | APART.keys()


@pytest.mark.parametrize(("method", "path"), APART)
def test_a_route_with_a_request_of_its_own_asks_for_its_right(guarded, method, path):
    needed, options, status = APART[method, path]
    assert guarded.client().request(method, path, **options).status_code == 401
    for right in (R, W, A):
        client = guarded.client(guarded.token(["maya"], [right]))
        answer = client.request(method, path, **options)
        assert answer.status_code == (status if right is needed else 403), answer.text
    foreign = guarded.client(guarded.token(["other"])).request(method, path, **options)
    assert foreign.status_code == 403


def test_a_trace_is_shown_for_its_user_alone(guarded):
    guarded.memory.add("Likes tea", user_id="maya")
    guarded.memory.search("tea", user_id="maya")
    client = guarded.client(guarded.token(["maya", "other"], [R]))
    asked = {"user_id": "maya"}
    found = client.get("/v1/inspection/traces", params=asked).json()["items"]
    path = f"/v1/inspection/traces/{found[0]['id']}"
    assert client.get(path, params=asked).json()["trace"] == found[0]
    assert client.get(path, params={"user_id": "other"}).status_code == 404


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_no_route_answers_without_a_key_once_there_are_keys(guarded, method, path):
    answer = send(guarded.client(), method, path, "maya")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    for token in ("smk_000000000000_x", "smk_", "nonsense", guarded.token() + "x"):
        assert send(guarded.client(token), method, path, "maya").status_code == 401


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_a_route_asks_for_its_right_and_no_other(guarded, method, path):
    needed, named = REQUESTS[method, path]
    users = ["*"] if named is ALL_USERS else ["maya"]
    for rights in ((R,), (W,), (A,), (R, W), (R, W, A)):
        memory_id = guarded.memory.add("Likes coffee", user_id="maya").id
        answer = send(guarded.client(guarded.token(users, rights)), method, path, "maya", memory_id)
        if needed is None or needed in rights:
            assert answer.is_success, (rights, answer.text)
        else:
            assert answer.status_code == 403, rights
            assert needed in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"), [request for request, (_, named) in REQUESTS.items() if named is not None]
)
def test_no_route_serves_a_user_that_the_key_does_not_cover(guarded, method, path):
    before = guarded.memory.add("Likes tea", user_id="other")
    for users in (["maya"], ["team-*"], ["maya", "team-a", "team-b"]):
        client = guarded.client(guarded.token(users))
        known = send(client, method, path, "other", before.id)
        assert known.status_code == 403, users
        assert "other" not in known.text
        assert "tea" not in known.text
        # whether the user or the memory exists makes no difference
        assert detail(send(client, method, path, "nobody")) == detail(known)
        assert guarded.memory.get(before.id) == before


@pytest.mark.parametrize(("method", "path"), [r for r in REQUESTS if "{memory_id}" in r[1]])
def test_a_memory_of_another_user_is_as_unknown_as_none(guarded, method, path):
    before = guarded.memory.add("Likes tea", user_id="other")
    foreign = before.id
    guarded.memory.add("Likes coffee", user_id="maya")
    for users in (["maya"], ["*"]):
        client = guarded.client(guarded.token(users))
        found = send(client, method, path, "maya", foreign)
        missing = send(client, method, path, "maya", "0" * len(foreign))
        refused_alike(found, foreign, missing, "0" * len(foreign))
    assert guarded.memory.get(foreign) == before


def test_a_prefix_covers_the_users_that_begin_with_it(guarded):
    client = guarded.client(guarded.token(["team-*"]))
    for user_id, status in (("team-a", 200), ("team-", 200), ("team", 403), ("a-team-a", 403)):
        assert send(client, "GET", "/v1/memories", user_id).status_code == status


@pytest.mark.parametrize(
    ("method", "path"), [request for request, (_, named) in REQUESTS.items() if named is not None]
)
@pytest.mark.parametrize("spaces", [["team-a"], ["team-*"]], ids=str)
def test_a_space_is_read_and_not_changed(guarded, method, path, spaces):
    right, _ = REQUESTS[method, path]
    said = [Message(role="user", content="We ship on Friday.")]
    guarded.memory.observe(said, user_id="team-a", session_id="said")
    guarded.memory.items.put(["kept"], "k", {}, user_id="team-a")
    before = guarded.memory.add("Ships on Fridays", user_id="team-a")
    client = guarded.client(guarded.token(["maya"], spaces=spaces))
    answer = send(client, method, path, "team-a", before.id)
    if right is R:
        assert answer.is_success, answer.text
    else:
        assert answer.status_code == 403
    assert guarded.memory.get(before.id) == before
    assert send(client, method, path, "tea", before.id).status_code == 403


def test_a_space_is_no_user_of_the_key_by_default(guarded):
    guarded.memory.add("Ships on Fridays", user_id="team-a")
    client = guarded.client(guarded.token(["maya"], spaces=["team-a"]))
    events = client.get("/v1/events", params={"limit": 1000}).json()["items"]
    assert {event["user_id"] for event in events} <= {"maya"}
    assert client.get("/v1/caller").json()["spaces"] == ["team-a"]


def test_the_users_that_are_listed_are_those_that_the_key_covers(guarded):
    for user_id in ("maya", "team-a", "team-b"):
        guarded.memory.add("Likes tea", user_id=user_id)
    answer = guarded.client(guarded.token(["team-*"])).get("/v1/admin/users")
    assert answer.json() == {"items": ["team-a", "team-b"]}


def test_ids_are_looked_up_among_the_users_that_the_key_covers(guarded):
    own = guarded.memory.add("Likes tea", user_id="maya").id
    foreign = guarded.memory.add("Likes tea", user_id="other").id
    client = guarded.client(guarded.token(["maya"]))
    for memory_id, found in ((own, [own]), (foreign, [])):
        asked = {"prefix": memory_id[:12], "user_id": "maya"}
        assert client.get("/v1/admin/ids", params=asked).json() == {"items": found}
    everywhere = {"prefix": foreign[:12]}
    assert client.get("/v1/admin/ids", params=everywhere).status_code == 403
    every = guarded.client(guarded.token(["*"])).get("/v1/admin/ids", params=everywhere)
    assert every.json() == {"items": [foreign]}


def test_a_revoked_key_ends_at_once(guarded):
    token = guarded.token()
    client = guarded.client(token)
    assert client.get("/v1/admin/stats").status_code == 200
    FileKeys(guarded.directory).revoke(token.split("_")[1])  # as another process would
    assert client.get("/v1/admin/stats").status_code == 401


def test_revoking_the_last_key_does_not_open_the_door(service):
    token = service.token()
    assert service.client().get("/v1/admin/stats").status_code == 401
    service.keys.revoke(token.split("_")[1])
    assert service.client().get("/v1/admin/stats").status_code == 401


def test_the_services_own_token_opens_every_door(guarded):
    assert guarded.client(guarded.doorkeeper.local_token).get("/v1/admin/stats").status_code == 200


def test_on_loopback_no_key_is_needed_but_the_name_must_be_the_machines_own(service):
    assert service.client().get("/v1/admin/stats").status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example:80", ""):
        answer = service.client(headers={"Host": host}).get("/v1/admin/stats")
        assert answer.status_code == 421, host
    for host in ("localhost", f"localhost:{service.port}", "[::1]:80", "127.0.0.1"):
        answer = service.client(headers={"Host": host}).get("/v1/admin/stats")
        assert answer.status_code == 200, host


@pytest.mark.parametrize(
    "second", ["Host: evil.example", "host: localhost", "Authorization: Bearer x"]
)
@pytest.mark.parametrize("path", ["/v1/admin/stats", "/mcp", "/healthz", "/dashboard/"])
def test_a_request_with_a_second_host_or_key_is_refused(service, second, path):
    """Which one counts would depend on who reads it."""
    token = service.token()
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        lines = [
            f"GET {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {token}",
            second,
            "Connection: close",
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 "), answer


def test_elsewhere_than_on_loopback_it_does_not_start_without_a_key(serve, tmp_path):
    with pytest.raises(ConfigurationError, match="keys create"):
        serve(host="0.0.0.0")
    FileKeys(tmp_path / "served").create("first", ["maya"], [R], NOW)
    assert serve(host="0.0.0.0").client().get("/v1/admin/stats").status_code == 401


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("localhost.example.org", False),
    ],
)
def test_what_only_this_machine_can_reach_is_loopback(host, loopback):
    assert is_loopback(host) is loopback


def test_a_key_has_its_rate_and_others_have_theirs(serve):
    service = serve(requests_per_minute=20)
    busy, calm = service.client(service.token()), service.client(service.token())
    answers = [busy.get("/v1/admin/stats") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) == 3
    assert calm.get("/v1/admin/stats").status_code == 200


def test_a_bucket_fills_at_its_rate():
    bucket = Bucket(rate=2.0, size=2.0)
    assert [bucket.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert bucket.take(0.5) == 0.0
    assert bucket.take(0.5) == 0.5
    assert [bucket.take(100.0) for _ in range(3)] == [0.0, 0.0, 0.5]


def test_keys_are_kept_hashed_and_for_the_owner_only(tmp_path):
    keys = FileKeys(tmp_path)
    key, token = keys.create("agent", ["maya"], [R], NOW)
    file = tmp_path / "keys.json"
    assert token.split("_", 2)[2] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert FileKeys(tmp_path).read().find(token) == key
    assert keys.read().find(token[:-1]) is None
    assert keys.read().find(re.sub("^smk", "key", token)) is None


def test_a_damaged_file_of_keys_lets_nobody_in(service):
    token = service.token()
    (service.directory / "keys.json").write_text("[{")
    answer = service.client(token).get("/v1/admin/stats")
    assert answer.status_code == 500
    assert "keys.json" not in answer.text


def test_without_a_user_a_memory_is_shown_to_who_may_see_everyones(guarded):
    fact = guarded.memory.add("Likes tea", user_id="maya")
    path = f"/v1/memories/{fact.id}"
    assert guarded.client(guarded.token(["*"], [R])).get(path).json()["id"] == fact.id
    for users in (["maya"], ["m*"]):
        assert guarded.client(guarded.token(users, [R])).get(path).status_code == 403
    assert guarded.client(guarded.token(["*"], [R])).delete(path).status_code == 403


def test_the_audit_names_the_key_that_forgot(service):
    token = service.keys.create("support desk", ["maya"], [R, W], NOW)[1]
    http = service.client(token)
    said = {"user_id": "maya"}
    fact = http.post("/v1/memories", json={"content": "Likes tea", **said}).json()
    http.delete(f"/v1/memories/{fact['id']}", params={**said, "reason": "asked to"})
    http.post("/v1/memories", json={"content": "Likes jazz", "tags": ["music"], **said})
    http.post("/v1/forget", json={"tag": "music", **said})
    found = http.get("/v1/memories", params={**said, "status": "forgotten"}).json()["items"]
    assert [one["tombstone"]["by"] for one in found] == ["support desk"] * 2
    assert {one["content"] for one in found} == {""}
