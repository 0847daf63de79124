"""Agents and runs on every face: added, recalled, listed, exported and forgotten apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from operator import attrgetter
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from semantic_memory import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.entrypoints.cli import app
from tests.conftest import say
from tests.service.conftest import Served
from tests.service.test_mcp import call, over_http

USER = "maya"
OWN = {"agent_id": "ops", "run_id": "r1"}
TEXT = "Likes black tea"


def shown(one: Any) -> tuple[str, str | None, str | None]:
    fact = one if isinstance(one, dict) else one.model_dump()
    fact = fact.get("fact", fact)
    return fact["content"], fact.get("agent_id"), fact.get("run_id")


def of_object(memory: Any) -> Callable[..., Any]:
    def ask(verb: str, *given: Any, **named: Any) -> Any:
        return attrgetter(verb)(memory)(*given, user_id=USER, **named)

    return ask


def of_async(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> Callable[..., Any]:
    def ask(verb: str, *given: Any, **named: Any) -> Any:
        async def run() -> Any:
            async with opened() as memory:
                if verb == "transfer.export":
                    return [one async for one in memory.transfer.export(user_id=USER, **named)]
                return await attrgetter(verb)(memory)(*given, user_id=USER, **named)

        return anyio.run(run)

    return ask


def of_rest(http: Any) -> Callable[..., Any]:
    def ask(verb: str, *given: Any, **named: Any) -> Any:
        named = {"user_id": USER, **named}
        match verb:
            case "add":
                answer = http.post("/v1/memories", json={"content": given[0], **named})
            case "search":
                answer = http.post("/v1/search", json={"query": given[0], **named})
            case "context":
                answer = http.post("/v1/context", json={"query": given[0], **named})
            case "list":
                answer = http.get("/v1/memories", params=named)
            case "transfer.export":
                answer = http.get("/v1/transfer/export", params=named)
                return [json.loads(line) for line in answer.raise_for_status().text.splitlines()]
            case _:
                answer = http.post("/v1/forget", json=named)
        found = answer.raise_for_status().json()
        return found["forgotten"] if verb == "forget" else found.get("items", found)

    return ask


def of_command(service: Served) -> Callable[..., Any]:
    def ask(verb: str, *given: Any, **named: Any) -> Any:
        names = {"agent_id": "--agent", "run_id": "--run"}
        options = [part for key in names if key in named for part in (names[key], named[key])]
        options += [f"--space={one}" for one in named.get("spaces", ())]
        if verb == "forget" and not named.get("dry_run"):
            options.append("--yes")
        as_json = [] if verb == "transfer.export" else ["--json"]
        arguments = [*verb.split("."), *given, "--user", USER, *options, *as_json]
        done = CliRunner().invoke(app, [*arguments, "--data-dir", str(service.directory)])
        assert done.exit_code == 0, done.output
        if verb == "transfer.export":
            return [json.loads(line) for line in done.stdout.splitlines()]
        found = json.loads(done.stdout)
        return found["forgotten"] if verb == "forget" else found

    return ask


Face = Callable[..., Any]
"""Asks for a verb of one face; returns what it returns, or the number that was forgotten."""
NAMES = ["library", "async", "client", "async client", "rest", "command line"]
"""Those where a call names its scope; an agent has that of its configuration."""


@pytest.fixture
def face(service: Served, request: pytest.FixtureRequest) -> Iterator[Face]:
    token = service.token()
    with (
        service.announced(),
        Client(service.url, api_key=token) as client,
    ):
        match request.param:
            case "library":
                yield of_object(service.memory)
            case "async":
                yield of_async(lambda: nullcontext(AsyncSemanticMemory(service.memory)))
            case "client":
                yield of_object(client)
            case "async client":
                yield of_async(lambda: AsyncClient(service.url, api_key=token))
            case "rest":
                yield of_rest(service.client(token))
            case _:
                yield of_command(service)


@pytest.mark.parametrize("face", NAMES, indirect=True)
def test_a_scope_is_taken_by_every_verb_of_a_face(face: Face):
    shared, ops, other = (TEXT, None, None), (TEXT, "ops", "r1"), (TEXT, "web", None)
    added = [face("add", TEXT), face("add", TEXT, **OWN), face("add", TEXT, agent_id="web")]
    assert [shown(one) for one in added] == [shared, ops, other]
    face("add", "Tea of the web agent", agent_id="web")
    listed = {shown(one) for one in face("list")}
    assert {shared, ops, other} <= listed
    assert [shown(one) for one in face("list", **OWN)] == [ops]
    seen = {shown(one) for one in face("search", "tea", **OWN)}
    assert seen <= {shared, ops}
    assert seen
    assert "web agent" not in str(face("context", "tea", **OWN))
    assert "web agent" in str(face("context", "tea", agent_id="web"))
    records = [one for one in face("transfer.export", agent_id="web") if one["kind"] == "fact"]
    assert {shown(one) for one in records} == {other, ("Tea of the web agent", "web", None)}
    assert int(face("forget", **OWN, dry_run=True)) == 1
    assert int(face("forget", **OWN)) == 1
    assert {shown(one) for one in face("list")} == listed - {ops}


def test_messages_of_every_face_have_their_scope(service: Served, tmp_path: Any):
    token = service.token()
    body = {"user_id": USER, "session_id": "s1", **OWN}
    service.memory.observe(say("by library"), user_id=USER, session_id="s1", **OWN)
    message = {"role": "user", "content": "by rest"}
    service.client(token).post("/v1/messages", json={**body, "messages": [message]})
    with Client(service.url, api_key=token) as client:
        client.observe(say("by client", start=2), user_id=USER, session_id="s1", **OWN)

    async def use(agent: Any) -> Any:
        said = [{"role": "user", "content": "by mcp"}]
        return await call(agent, "observe", session_id="s1", messages=said)

    over_http(service, token, use, user=USER, agent="ops")
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "by command"}) + "\n")
    place = ["--user", USER, "--session", "s1", "--data-dir", str(service.directory)]
    with service.announced():
        options = [*place, "--agent", "ops", "--run", "r1"]
        done = CliRunner().invoke(app, ["ingest", str(file), *options])
        assert done.exit_code == 0, done.output
    service.memory.flush()
    said = service.memory.sessions.messages(user_id=USER, session_id="s1")
    assert {one.content for one in said} == {
        f"by {name}" for name in ("library", "rest", "client", "mcp", "command")
    }
    assert {one.scope for one in said} == {("ops", "r1"), ("ops", None)}
    facts = service.memory.list(user_id=USER)
    assert {fact.scope for fact in facts} == {("ops", "r1"), ("ops", None)}
