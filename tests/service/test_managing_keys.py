"""API keys are listed, created and revoked over REST, within what the caller's key reaches."""

from __future__ import annotations

from typing import Any

import pytest

from semantic_memory.entrypoints.callers import ANYONE, Caller
from tests.service.conftest import A, R, Served, W

ADMIN_OF_TEAM = (["team-*", "maya"], [R, W, A])


def body(**values: Any) -> dict[str, Any]:
    return {"name": "bot", "users": ["maya"], "rights": ["read"], **values}


def test_a_key_is_created_used_listed_without_its_secret_and_revoked(service: Served):
    admin = service.client(service.token())
    answer = admin.post("/v1/keys", json=body())
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    made = answer.json()
    holder = service.client(made["token"])
    assert holder.get("/v1/memories", params={"user_id": "maya"}).status_code == 200
    assert holder.get("/v1/memories", params={"user_id": "kim"}).status_code == 403
    listed = admin.get("/v1/keys")
    assert made["key"] in listed.json()["items"]
    assert made["token"] not in listed.text
    assert made["token"][-20:] not in listed.text  # of the secret, which may hold any letter
    assert "digest" not in listed.text
    path = f"/v1/keys/{made['key']['id']}"
    assert admin.delete(path).status_code == 204
    assert holder.get("/v1/caller").status_code == 401
    assert admin.delete(path).status_code == 404


def test_the_key_of_the_request_is_marked_among_the_others(service: Served):
    token = service.token()
    service.token(["maya"], [R])
    items = service.client(token).get("/v1/keys").json()["items"]
    assert [one["own"] for one in items] == [True, False]


def test_the_first_key_closes_the_door(service: Served):
    made = service.client().post("/v1/keys", json=body(users=["*"], rights=["admin"])).json()
    assert service.client().get("/v1/caller").status_code == 401
    assert service.client(made["token"]).get("/v1/keys").status_code == 200


@pytest.mark.parametrize(
    "wanted",
    [
        body(users=["*"]),
        body(users=["t*"]),
        body(users=["kim"]),
        body(users=["maya*"]),
        body(users=["maya", "kim"]),
        body(spaces=["kim"]),
    ],
    ids=str,
)
def test_no_key_is_created_with_more_users_than_the_callers(service: Served, wanted):
    admin = service.client(service.token(*ADMIN_OF_TEAM))
    assert admin.post("/v1/keys", json=wanted).status_code == 403
    assert len([*service.keys.read()]) == 1


@pytest.mark.parametrize(
    "wanted",
    [body(users=["team-*"]), body(users=["team-a", "maya"]), body(spaces=["team-*"])],
    ids=str,
)
def test_a_key_within_the_callers_users_is_created(service: Served, wanted):
    admin = service.client(service.token(*ADMIN_OF_TEAM))
    assert admin.post("/v1/keys", json=wanted).status_code == 201


def test_no_key_is_created_with_a_right_that_the_caller_lacks(service: Served):
    admin = service.client(service.token(["*"], [A]))
    assert admin.post("/v1/keys", json=body(rights=["read"])).status_code == 403
    assert admin.post("/v1/keys", json=body(rights=["admin"])).status_code == 201


def test_a_readable_space_is_not_handed_on_as_a_user(service: Served):
    admin = service.client(service.token(["maya"], [R, A], spaces=["team"]))
    assert admin.post("/v1/keys", json=body(users=["team"])).status_code == 403
    assert admin.post("/v1/keys", json=body(spaces=["team"])).status_code == 201


def test_keys_that_reach_further_are_neither_listed_nor_revoked(service: Served):
    service.token()
    wide = next(iter(service.keys.read()))
    admin = service.client(service.token(*ADMIN_OF_TEAM))
    assert [one["own"] for one in admin.get("/v1/keys").json()["items"]] == [True]
    refused = admin.delete(f"/v1/keys/{wide.id}")
    unknown = admin.delete("/v1/keys/000000000000")
    assert refused.status_code == unknown.status_code == 404
    assert refused.json()["detail"].replace(wide.id, "000000000000") == unknown.json()["detail"]


@pytest.mark.parametrize("rights", [[R], [W], [R, W]], ids=str)
def test_keys_are_managed_with_the_right_to_administer_alone(service: Served, rights):
    client = service.client(service.token(rights=rights))
    other = [*service.keys.read()][-1].id
    assert client.get("/v1/keys").status_code == 403
    assert client.post("/v1/keys", json=body()).status_code == 403
    assert client.delete(f"/v1/keys/{other}").status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": []},
        {"rights": []},
        {"rights": ["owner"]},
        {"users": ["a b"]},
        {"agent_id": "cook", "rights": ["admin"]},
        {"spaces": ["team"], "rights": ["write"]},
        {"secret": "x"},
    ],
    ids=str,
)
def test_a_key_that_makes_no_sense_is_refused_with_the_reason(service: Served, wrong):
    answer = service.client(service.token()).post("/v1/keys", json=body(**wrong))
    assert answer.status_code == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("own", "asked", "governed"),
    [
        (("*",), ("*",), True),
        (("*",), ("a", "b*"), True),
        (("te*",), ("team-*",), True),
        (("te*",), ("te*",), True),
        (("te*",), ("t*",), False),
        (("te*",), ("*",), False),
        (("team-a",), ("team-*",), False),
        (("team-a",), ("team-a",), True),
        (("a*", "b"), ("ab", "b"), True),
        (("a*", "b"), ("ab", "bc"), False),
    ],
    ids=str,
)
def test_a_caller_governs_the_patterns_within_its_own(own, asked, governed):
    assert Caller("test", own, ANYONE).governs(asked) is governed
