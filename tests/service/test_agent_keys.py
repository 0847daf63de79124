"""Keys that are limited to an agent: its own memories, and to read, those that are shared."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from semantic_memory import Message
from semantic_memory.client import Client
from semantic_memory.domain.errors import AccessDeniedError, InvalidInputError, NotFoundError
from semantic_memory.entrypoints.keys import Keys
from tests.service.conftest import NOW, A, R, Served, W
from tests.service.test_access import REQUESTS, refused_alike, send

MAYA: dict[str, Any] = {"user_id": "maya"}
OWN, SHARED, FOREIGN = "Drinks cocoa in the morning", "Drinks tea at noon", "Drinks gin at night"
OPEN = {
    ("POST", "/v1/messages"),
    ("POST", "/v1/memories"),
    ("POST", "/v1/memories/batch"),
    ("GET", "/v1/memories"),
    ("GET", "/v1/memories/{memory_id}"),
    ("PATCH", "/v1/memories/{memory_id}"),
    ("DELETE", "/v1/memories/{memory_id}"),
    ("GET", "/v1/memories/{memory_id}/history"),
    ("GET", "/v1/memories/{memory_id}/explanation"),
    ("POST", "/v1/memories/{memory_id}/restore"),
    ("POST", "/v1/search"),
    ("POST", "/v1/context"),
    ("POST", "/v1/forget"),
    ("GET", "/v1/export"),
    ("POST", "/v1/flush"),
}
"""Every other route shows or changes what has no agent."""
BY_ID = [request for request in sorted(OPEN) if "{memory_id}" in request[1]]


@pytest.fixture
def facts(service: Served) -> dict[str, str]:
    """The ids of a memory of the agent, one that is shared, and one of another agent."""
    memory = service.memory
    memory.update_profile({"work_context": "Tests for a distillery."}, **MAYA)
    return {
        "own": memory.add(OWN, **MAYA, agent_id="cook").id,
        "shared": memory.add(SHARED, **MAYA).id,
        "foreign": memory.add(FOREIGN, **MAYA, agent_id="travel").id,
    }


@pytest.fixture
def cook(service: Served) -> httpx.Client:
    return service.client(service.token(["maya"], [R, W], agent_id="cook"))


def test_only_routes_that_know_agents_are_open(service, cook, facts):
    for method, path in REQUESTS:
        right, _ = REQUESTS[method, path]
        memory_id = service.memory.add("Likes rye", **MAYA, agent_id="cook").id
        answer = send(cook, method, path, "maya", memory_id)
        if (method, path) in OPEN or right is None:
            assert answer.is_success, (path, answer.text)
        else:
            assert answer.status_code == 403, (path, answer.text)
        assert "gin" not in answer.text, path


def test_what_it_reads_is_its_own_and_what_is_shared(cook, facts):
    listed = cook.get("/v1/memories", params=MAYA).json()["items"]
    assert {one["id"] for one in listed} == {facts["own"], facts["shared"]}
    found = cook.post("/v1/search", json={**MAYA, "query": "What does she drink?"}).json()["items"]
    assert {one["fact"]["id"] for one in found} == {facts["own"], facts["shared"]}
    block = cook.post("/v1/context", json={**MAYA, "query": "What does she drink?"}).json()["text"]
    assert "cocoa" in block
    assert "tea" in block
    assert "gin" not in block
    lines = [json.loads(line) for line in cook.get("/v1/export", params=MAYA).text.splitlines()]
    assert {one["fact"]["content"] for one in lines if one["kind"] == "fact"} == {OWN, SHARED}
    document = cook.get("/v1/export", params={**MAYA, "format": "json"}).text
    assert "cocoa" in document
    assert "gin" not in document


def test_its_own_alone_are_listed_where_it_names_its_agent(cook, facts):
    listed = cook.get("/v1/memories", params={**MAYA, "agent_id": "cook"}).json()["items"]
    assert [one["id"] for one in listed] == [facts["own"]]


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", "/v1/memories", {"params": {"agent_id": "travel"}}),
        ("GET", "/v1/memories", {"params": {"q": "agent:travel"}}),
        ("GET", "/v1/memories", {"params": {"q": "agent:cook,travel"}}),
        ("GET", "/v1/export", {"params": {"agent_id": "travel"}}),
        ("GET", "/v1/export", {"params": {"q": "agent:travel"}}),
        ("GET", "/v1/export", {"params": {"agent_id": "travel", "format": "json"}}),
        ("POST", "/v1/search", {"json": {"query": "gin", "agent_id": "travel"}}),
        ("POST", "/v1/search", {"json": {"query": "gin", "filters": {"agents": ["travel"]}}}),
        ("POST", "/v1/context", {"json": {"query": "gin", "agent_id": "travel"}}),
        ("POST", "/v1/context", {"json": {"query": "gin", "filters": {"agents": ["travel"]}}}),
        ("POST", "/v1/forget", {"json": {"agent_id": "travel"}}),
        ("POST", "/v1/forget", {"json": {"filters": {"agents": ["travel"]}}}),
        ("POST", "/v1/forget", {"json": {"everything": True}}),
        ("POST", "/v1/memories", {"json": {"content": "Likes ale", "agent_id": "travel"}}),
        (
            "POST",
            "/v1/memories/batch",
            {"json": {"items": [{"content": "Likes ale", "agent_id": "travel"}]}},
        ),
        (
            "POST",
            "/v1/messages",
            {
                "json": {
                    "session_id": "s",
                    "messages": [{"role": "user", "content": "Hello", "agent_id": "travel"}],
                }
            },
        ),
    ],
)
def test_another_agent_is_refused_however_it_is_named(service, cook, facts, method, path, options):
    ((place, values),) = options.items()
    before = service.memory.list(**MAYA)
    answer = cook.request(method, path, **{place: {**values, **MAYA}})
    assert answer.status_code in (403, 422)
    assert "gin" not in answer.text
    assert service.memory.list(**MAYA) == before


def test_what_it_writes_is_its_own(service, cook):
    said = [{"role": "user", "content": "I play the cello."}]
    cook.post("/v1/messages", json={**MAYA, "session_id": "s", "messages": said})
    cook.post("/v1/memories", json={**MAYA, "content": "Likes rye"})
    cook.post("/v1/memories/batch", json={**MAYA, "items": [{"content": "Likes spelt"}]})
    service.memory.flush()
    found = service.memory.list(**MAYA)
    assert len(found) >= 4
    assert {fact.agent_id for fact in found} == {"cook"}


@pytest.mark.parametrize(("method", "path"), BY_ID)
def test_a_memory_of_another_agent_is_as_unknown_as_none(service, cook, facts, method, path):
    foreign = facts["foreign"]
    before = service.memory.get(foreign)
    found = send(cook, method, path, "maya", foreign)
    missing = send(cook, method, path, "maya", "0" * len(foreign))
    refused_alike(found, foreign, missing, "0" * len(foreign))
    assert service.memory.get(foreign) == before


@pytest.mark.parametrize(("method", "path"), BY_ID)
def test_a_shared_memory_is_read_and_not_changed(service, cook, facts, method, path):
    before = service.memory.get(facts["shared"])
    answer = send(cook, method, path, "maya", facts["shared"])
    assert answer.status_code == (200 if method == "GET" else 403)
    assert service.memory.get(facts["shared"]) == before


def test_it_forgets_its_own_alone(service, cook, facts):
    for condition in ({"since": "2020-01-01T00:00:00Z"}, {"entity": "gin"}, {"query": "tea"}):
        assert cook.post("/v1/forget", json={**MAYA, **condition}).is_success
    left = {fact.content for fact in service.memory.list(**MAYA)}
    assert left == {SHARED, FOREIGN}


def test_tools_of_agents_are_limited_too(service, facts):
    token = service.token(["maya"], [R, W], agent_id="cook")
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
    }

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        answer = service.client().post("/mcp", json=body, headers=headers)
        result: dict[str, Any] = answer.json()["result"]
        assert FOREIGN not in json.dumps(result)
        return result

    listed = call("list_memories")["structuredContent"]["memories"]
    assert {one["id"] for one in listed} == {facts["own"], facts["shared"]}
    assert len(call("search_memory", query="drinks")["structuredContent"]["memories"]) == 2
    assert "gin" not in call("get_context", query="drinks")["structuredContent"]["text"]
    added = call("add_memory", content="Likes rye")["structuredContent"]
    assert service.memory.get(added["id"]).agent_id == "cook"
    for name, arguments in [
        ("profile", {}),
        ("create_session", {}),
        ("list_memories", {"agent_id": "travel"}),
        ("search_memory", {"query": "gin", "agent_id": "travel"}),
        ("add_memory", {"content": "Likes ale", "agent_id": "travel"}),
        ("forget_memories", {"memory_id": facts["foreign"]}),
        ("forget_memories", {"memory_id": facts["shared"], "confirm": True}),
    ]:
        assert call(name, **arguments)["isError"], name
    assert call("forget_memories", memory_id=facts["own"], confirm=True)["isError"] is False
    assert {fact.content for fact in service.memory.list(**MAYA)} == {SHARED, FOREIGN, "Likes rye"}


def test_a_client_needs_to_name_no_agent(service, facts):
    with Client(service.url, api_key=service.token(["maya"], agent_id="cook", rights=[R, W])) as it:
        it.observe([Message(role="user", content="Hello")], **MAYA, session_id="s")
        assert {hit.fact.content for hit in it.search("drinks", **MAYA)} >= {OWN, SHARED}
        with pytest.raises(AccessDeniedError, match="limited to agent 'cook'"):
            it.profile(**MAYA)
        with pytest.raises(NotFoundError):
            it.get(facts["foreign"], **MAYA)


def test_the_caller_is_told_its_agent(cook):
    assert cook.get("/v1/caller").json()["agent_id"] == "cook"


def test_a_key_of_an_agent_cannot_administer(tmp_path):
    with pytest.raises(InvalidInputError, match="administer"):
        Keys(tmp_path).create("agent", ["maya"], [R, A], NOW, agent_id="cook")


def test_keys_without_an_agent_are_written_as_before(tmp_path):
    keys = Keys(tmp_path)
    keys.create("all", ["maya"], [R], NOW)
    written = (tmp_path / "keys.json").read_text()
    assert "agent_id" not in written
    assert "spaces" not in written
    key, token = keys.create("one", ["maya"], [R], NOW, agent_id="cook", spaces=["team-a"])
    assert Keys(tmp_path).find(token) == key
