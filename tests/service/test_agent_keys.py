"""Keys that are limited to an agent: its own memories, and to read, those that are shared."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from semantic_memory import Message
from semantic_memory.client import Client
from semantic_memory.domain.errors import AccessDeniedError, NotFoundError
from semantic_memory.entrypoints.state.file_keys import FileKeys
from tests.service.conftest import NOW, R, Served, W
from tests.service.test_access import REQUESTS, refused_alike, send
from tests.service.test_mcp import ids

MAYA: dict[str, Any] = {"user_id": "maya"}
OWN, SHARED, FOREIGN = "Drinks cocoa in the morning", "Drinks tea at noon", "Drinks gin at night"
OPEN = {
    ("POST", "/v1/messages"),
    ("POST", "/v1/memories"),
    ("POST", "/v1/transfer/add-many"),
    ("GET", "/v1/memories"),
    ("GET", "/v1/memories/{memory_id}"),
    ("PATCH", "/v1/memories/{memory_id}"),
    ("DELETE", "/v1/memories/{memory_id}"),
    ("GET", "/v1/history/versions/{memory_id}"),
    ("GET", "/v1/history/explain/{memory_id}"),
    ("POST", "/v1/history/restore/{memory_id}"),
    ("POST", "/v1/search"),
    ("POST", "/v1/context"),
    ("POST", "/v1/forget"),
    ("GET", "/v1/transfer/export"),
    ("POST", "/v1/flush"),
    ("GET", "/v1/profile"),
    ("GET", "/v1/sessions"),
    ("POST", "/v1/sessions"),
    ("POST", "/v1/items/list"),
    ("POST", "/v1/items/search"),
    ("POST", "/v1/items/namespaces"),
}
"""Every other route shows or changes what has no agent, or what another agent has."""
OF_OWN_SESSIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "/v1/sessions/messages"): {"params": {}},
    ("POST", "/v1/sessions/pop"): {"json": {}},
    ("POST", "/v1/sessions/load"): {"json": {}},
    ("POST", "/v1/sessions/close"): {"json": {}},
    ("PATCH", "/v1/sessions"): {"json": {"fades": True}},
}
"""Routes of one session, 404 for those of others."""
BY_ID = [request for request in sorted(OPEN) if "{memory_id}" in request[1]]


@pytest.fixture
def facts(service: Served) -> dict[str, str]:
    """The ids of a memory of the agent, one that is shared, and one of another agent."""
    memory = service.memory
    memory.profile.update({"work_context": "Tests for a distillery."}, **MAYA)
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
        elif (method, path) in OF_OWN_SESSIONS:
            assert answer.status_code == 404, (path, answer.text)
        else:
            assert answer.status_code == 403, (path, answer.text)
        assert "gin at" not in answer.text, path


def test_what_it_reads_is_its_own_and_what_is_shared(cook, facts):
    listed = cook.get("/v1/memories", params=MAYA).json()["items"]
    assert {one["id"] for one in listed} == {facts["own"], facts["shared"]}
    found = cook.post("/v1/search", json={**MAYA, "query": "What does she drink?"}).json()["items"]
    assert {one["fact"]["id"] for one in found} == {facts["own"], facts["shared"]}
    block = cook.post("/v1/context", json={**MAYA, "query": "What does she drink?"}).json()["text"]
    assert "cocoa" in block
    assert "tea" in block
    assert "gin" not in block
    lines = [
        json.loads(line) for line in cook.get("/v1/transfer/export", params=MAYA).text.splitlines()
    ]
    assert {one["fact"]["content"] for one in lines if one["kind"] == "fact"} == {OWN, SHARED}
    document = cook.get("/v1/transfer/export", params={**MAYA, "format": "json"}).text
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
        ("GET", "/v1/transfer/export", {"params": {"agent_id": "travel"}}),
        ("GET", "/v1/transfer/export", {"params": {"q": "agent:travel"}}),
        ("GET", "/v1/transfer/export", {"params": {"agent_id": "travel", "format": "json"}}),
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
            "/v1/transfer/add-many",
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
    cook.post("/v1/transfer/add-many", json={**MAYA, "items": [{"content": "Likes spelt"}]})
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
    asked: list[dict[str, Any]] = [
        {"entity": "gin", "force": True},
        {"query": "tea"},
        {"since": "2020-01-01T00:00:00Z"},
    ]
    for condition in asked:
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
        answer = service.client().post("/mcp?tools=all", json=body, headers=headers)
        result: dict[str, Any] = answer.json()["result"]
        assert FOREIGN not in json.dumps(result)
        return result

    say_in(service, "of-travel", "travel")
    assert call("create_session", session_id="own")["isError"] is False
    assert call("load_session", session_id="own")["isError"] is False
    assert call("profile")["isError"] is False
    for name, arguments in [("list_memories", {}), ("recall", {"query": "drinks"})]:
        assert set(ids(text(call(name, **arguments)))) == {facts["own"], facts["shared"]}
    assert "gin" not in text(call("recall", query="drinks", as_context=True))
    added = text(call("remember", content="Likes rye")).split()[-1]
    assert service.memory.get(added).agent_id == "cook"
    for name, arguments in [
        ("load_session", {"session_id": "of-travel"}),
        ("close_session", {"session_id": "of-travel"}),
        ("recall", {"memory_id": facts["foreign"]}),
        ("update_memory", {"memory_id": facts["foreign"], "content": "Likes ale"}),
        ("update_memory", {"memory_id": facts["shared"], "content": "Likes ale"}),
        ("forget", {"memory_id": facts["foreign"]}),
        ("forget", {"memory_id": facts["shared"], "confirm": True}),
    ]:
        assert call(name, **arguments)["isError"], name
    assert call("forget", memory_id=facts["own"], confirm=True)["isError"] is False
    left = {fact.content for fact in service.memory.list(**MAYA)} - {"Hello from of-travel"}
    assert left == {SHARED, FOREIGN, "Likes rye"}


def text(result: dict[str, Any]) -> str:
    (content,) = result["content"]
    return str(content["text"])


def say_in(service: Served, session_id: str, *agents: str | None) -> None:
    for agent_id in agents:
        said = [Message(role="user", content=f"Hello from {session_id}")]
        service.memory.observe(said, **MAYA, session_id=session_id, agent_id=agent_id)


@pytest.fixture
def sessions(service: Served) -> None:
    say_in(service, "own", "cook")
    say_in(service, "shared", None)
    say_in(service, "mixed", "cook", "travel")
    say_in(service, "of-travel", "travel")
    service.memory.sessions.create(**MAYA, session_id="created")
    say_in(service, "created", "cook")
    service.memory.flush()


def of_session(cook: httpx.Client, method: str, path: str, session_id: str) -> httpx.Response:
    ((place, values),) = OF_OWN_SESSIONS[method, path].items()
    options: dict[str, Any] = {place: {**values, **MAYA, "session_id": session_id}}
    return cook.request(method, path, **options)


def test_its_sessions_are_those_with_its_messages_alone(service, cook, sessions):
    listed = cook.get("/v1/sessions", params=MAYA).json()["items"]
    assert [one["session_id"] for one in listed] == ["own"]
    cook.post("/v1/sessions", json={**MAYA, "session_id": "new"}).raise_for_status()
    listed = cook.get("/v1/sessions", params=MAYA).json()["items"]
    assert {one["session_id"] for one in listed} == {"own", "new"}
    say_in(service, "new", "travel")
    listed = cook.get("/v1/sessions", params=MAYA).json()["items"]
    assert [one["session_id"] for one in listed] == ["own"]
    asked = {**MAYA, "agent_id": "travel"}
    assert cook.get("/v1/sessions", params=asked).status_code == 403
    assert len(service.memory.sessions.list(**MAYA)) == 6


@pytest.mark.parametrize(("method", "path"), OF_OWN_SESSIONS)
def test_a_session_of_its_own_is_open_to_it(service, cook, sessions, method, path):
    assert of_session(cook, method, path, "own").is_success


PARTS = ("/v1/sessions/messages", "/v1/sessions/pop")
WHOLE = [route for route in OF_OWN_SESSIONS if route[1] not in PARTS]


@pytest.mark.parametrize("session_id", ["shared", "mixed", "of-travel", "created"])
@pytest.mark.parametrize(("method", "path"), WHOLE)
def test_a_session_of_others_is_as_unknown_as_none(
    service, cook, sessions, method, path, session_id
):
    before = service.memory.sessions.list(**MAYA)
    found = of_session(cook, method, path, session_id)
    missing = of_session(cook, method, path, "missing")
    refused_alike(found, session_id, missing, "missing")
    assert service.memory.sessions.list(**MAYA) == before


def test_of_a_session_it_reads_its_own_messages_and_shared_ones(service, cook, sessions):
    say_in(service, "mixed", None)

    def agents(session_id: str) -> list[str | None]:
        asked = {**MAYA, "session_id": session_id}
        answer = cook.get("/v1/sessions/messages", params=asked)
        return [one["agent_id"] for one in answer.raise_for_status().json()["items"]]

    assert agents("mixed") == ["cook", None]
    assert agents("shared") == [None]
    newest = {**MAYA, "session_id": "mixed", "limit": 1, "newest": True}
    assert cook.get("/v1/sessions/messages", params=newest).json()["items"][0]["agent_id"] is None
    found = of_session(cook, "GET", "/v1/sessions/messages", "of-travel")
    refused_alike(
        found, "of-travel", of_session(cook, "GET", "/v1/sessions/messages", "missing"), "missing"
    )


def test_it_takes_back_its_own_messages_alone(service, cook, sessions):
    say_in(service, "mixed", "travel", None)
    assert of_session(cook, "POST", "/v1/sessions/pop", "mixed").json()["agent_id"] == "cook"
    assert of_session(cook, "POST", "/v1/sessions/pop", "mixed").status_code == 404
    assert of_session(cook, "POST", "/v1/sessions/pop", "shared").status_code == 404
    left = service.memory.sessions.messages(**MAYA, session_id="mixed")
    assert [one.agent_id for one in left] == ["travel", "travel", None]
    asked = {**MAYA, "session_id": "mixed", "message_id": left[0].id}
    assert cook.post("/v1/sessions/pop", json=asked).status_code == 404


def test_the_profile_shows_what_rests_on_what_it_sees(service, cook):
    for agent_id, content in [("cook", "Allergic to nuts"), ("travel", "Allergic to wasps")]:
        service.memory.add(f"The user is {content.lower()}.", **MAYA, agent_id=agent_id)
    service.memory.profile.update({"top_of_mind": "Run a marathon."}, **MAYA)
    service.memory.flush()
    assert "wasps" in service.memory.profile.get(**MAYA).model_dump_json()
    shown = cook.get("/v1/profile", params=MAYA).text
    assert "nuts" in shown
    assert "marathon" in shown
    assert "wasps" not in shown
    assert cook.patch("/v1/profile", params=MAYA, json={"top_of_mind": "Rest."}).status_code == 403
    past = cook.get("/v1/profile/history", params={**MAYA, "field": "top_of_mind"})
    assert past.status_code == 403
    assert "this would go beyond" in past.json()["detail"]
    reader = service.client(service.token(["maya"], [W], agent_id="cook"))
    assert reader.get("/v1/profile", params=MAYA).status_code == 403


OWN_ITEMS = ["agent:cook", "notes"]


def test_items_below_its_label_are_its_own(service, cook):
    for namespace in (OWN_ITEMS, ["agent:travel"], ["kept"]):
        service.memory.items.put(namespace, "k", {"text": f"gin of {namespace[0]}"}, **MAYA)
    item = {**MAYA, "namespace": OWN_ITEMS, "key": "k"}
    assert cook.get("/v1/items/item", params=item).json()["value"] == {"text": "gin of agent:cook"}
    for path, asked in [("list", {}), ("search", {"query": "gin"})]:
        for prefix in ([], OWN_ITEMS[:1], OWN_ITEMS):
            body = {**MAYA, **asked, "namespace": prefix}
            found = cook.post(f"/v1/items/{path}", json=body).json()["items"]
            assert [one.get("item", one)["namespace"] for one in found] == [OWN_ITEMS]
    found = cook.post("/v1/items/namespaces", json=MAYA).json()["items"]
    assert found == [OWN_ITEMS]
    assert cook.post("/v1/items", json={**item, "value": {"text": "ale"}}).is_success
    assert cook.delete("/v1/items/item", params=item).json() == {"deleted": True}
    assert len(service.memory.items.list(**MAYA)) == 2


@pytest.mark.parametrize("labels", [["kept"], ["agent:travel"], ["*"], ["agent:cookie"]], ids=str)
def test_items_elsewhere_are_refused_with_the_label_to_use(service, cook, labels):
    service.memory.items.put(["agent:travel"], "k", {"text": "gin"}, **MAYA)
    item = {**MAYA, "namespace": labels, "key": "k"}
    answers = [
        cook.get("/v1/items/item", params=item),
        cook.delete("/v1/items/item", params=item),
        cook.post("/v1/items", json={**item, "value": {}}),
        cook.post("/v1/items/list", json={**MAYA, "namespace": labels}),
        cook.post("/v1/items/search", json={**MAYA, "namespace": labels, "query": "gin"}),
        cook.post("/v1/items/namespaces", json={**MAYA, "prefix": labels}),
    ]
    for answer in answers:
        assert answer.status_code == 403
        assert "begin with the label 'agent:cook'" in answer.json()["detail"]
    assert len(service.memory.items.list(**MAYA)) == 1


def test_a_client_needs_to_name_no_agent(service, facts):
    with Client(service.url, api_key=service.token(["maya"], agent_id="cook", rights=[R, W])) as it:
        it.observe([Message(role="user", content="Hello")], **MAYA, session_id="s")
        assert {hit.fact.content for hit in it.search("drinks", **MAYA)} >= {OWN, SHARED}
        with pytest.raises(AccessDeniedError, match="limited to agent 'cook'"):
            it.profile.tags(**MAYA)
        assert "distillery" in it.profile.get(**MAYA).model_dump_json()
        assert [one.session_id for one in it.sessions.list(**MAYA)] == ["s"]
        with pytest.raises(NotFoundError):
            it.get(facts["foreign"], **MAYA)


def test_the_caller_is_told_its_agent(cook):
    assert cook.get("/v1/caller").json()["agent_id"] == "cook"


def test_keys_without_an_agent_are_written_as_before(tmp_path):
    keys = FileKeys(tmp_path)
    keys.create("all", ["maya"], [R], NOW)
    written = (tmp_path / "keys.json").read_text()
    assert "agent_id" not in written
    assert "spaces" not in written
    key, token = keys.create("one", ["maya"], [R], NOW, agent_id="cook", spaces=["team-a"])
    assert FileKeys(tmp_path).read().find(token) == key
