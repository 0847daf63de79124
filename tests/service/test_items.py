"""Items over REST: rights, isolation, and writes that happen once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.conftest import A, R, Served, W

ITEM: dict[str, Any] = {"user_id": "maya", "namespace": ["a b", "ü/x"], "key": "k/1"}
PUT = {**ITEM, "value": {"text": "hidden", "n": 10**30}}
SCOPE = {"user_id": "maya", "namespace": ["a b"]}


def test_a_write_only_key_reads_no_item(service: Served) -> None:
    http = service.client(service.token(["maya"], [W]))
    answer = http.post("/v1/items", json=PUT)
    assert (answer.status_code, answer.content) == (204, b"")
    refused = (
        http.get("/v1/items/item", params=ITEM),
        http.post("/v1/items/list", json=SCOPE),
        http.post("/v1/items/search", json={**SCOPE, "query": "hidden"}),
        http.post("/v1/items/namespaces", json={"user_id": "maya"}),
    )
    assert [one.status_code for one in refused] == [403] * 4
    assert all("hidden" not in one.text for one in refused)
    assert http.delete("/v1/items/item", params=ITEM).json() == {"deleted": True}


def test_a_read_only_key_writes_no_item(service: Served) -> None:
    http = service.client(service.token(["maya"], [R, A]))
    assert http.post("/v1/items", json=PUT).status_code == 403
    assert http.delete("/v1/items/item", params=ITEM).status_code == 403
    assert http.get("/v1/items/item", params=ITEM).status_code == 404


def test_a_key_of_one_user_reaches_no_other(service: Served) -> None:
    service.memory.items.put(["a b"], "k", {"text": "hidden"}, user_id="kim")
    http = service.client(service.token(["maya"]))
    theirs = {**SCOPE, "user_id": "kim"}
    everyones: dict[str, Any] = {**SCOPE, "user_id": None}
    for scope in (theirs, everyones):
        assert http.post("/v1/items/list", json=scope).status_code == 403
        found = http.post("/v1/items/search", json={**scope, "query": "hidden"})
        assert found.status_code == 403
        assert http.post("/v1/items/namespaces", json=scope | {}).status_code in (403, 422)
    assert http.get("/v1/items/item", params={**ITEM, "user_id": "kim"}).status_code == 403
    own = http.post("/v1/items/list", json=SCOPE)
    assert own.json() == {"items": []}
    admin = service.client(service.token())
    assert len(admin.post("/v1/items/list", json=everyones).json()["items"]) == 1


def test_whose_items_must_be_said(service: Served) -> None:
    http = service.client()
    for path in ("list", "search", "namespaces"):
        answer = http.post(f"/v1/items/{path}", json={"query": "x"} if path == "search" else {})
        assert answer.status_code == 422, path


def test_a_repeated_put_happens_once(service: Served) -> None:
    http = service.client(service.token())
    key = {"Idempotency-Key": "drawn-at-random"}
    assert http.post("/v1/items", json=PUT, headers=key).status_code == 204
    assert http.delete("/v1/items/item", params=ITEM).json() == {"deleted": True}
    assert http.post("/v1/items", json=PUT, headers=key).status_code == 204
    assert http.get("/v1/items/item", params=ITEM).status_code == 404


WRONG: list[dict[str, Any]] = [
    {"namespace": []},
    {"namespace": ["a", ""]},
    {"namespace": ["a\x00"]},
    {"namespace": ["a"] * 33},
    {"key": ""},
    {"value": []},
    {"value": None},
    {"ttl": 0},
    {"ttl": "60"},
    {"index": True},
    {"index": 0},
    {"index": ["a["]},
    {"user_id": "a b"},
    {"mood": 1},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_put_that_cannot_be_used_is_refused(service: Served, wrong: dict[str, Any]) -> None:
    answer = service.client().post("/v1/items", json={**PUT, **wrong})
    assert answer.status_code == 422
    assert service.memory.admin.users() == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_in_json_is_refused(service: Served, number: str) -> None:
    body = json.dumps({**PUT, "value": {"n": "NUMBER"}}).replace('"NUMBER"', number)
    headers = {"Content-Type": "application/json"}
    answer = service.client().post("/v1/items", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert service.memory.admin.users() == []
