"""A service takes and names the categories that its settings declare."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.client import Client as Agent

from semantic_memory import Category
from semantic_memory.client import Client
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.integrations.tools import memory_tools
from tests.service.conftest import Serve, Served
from tests.support.mcp import text_of

U: Any = {"user_id": "maya"}
NAMES = [*(one.value for one in Category), "training"]


@pytest.fixture
def service(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("SEMANTIC_MEMORY_EXTRACTION__CATEGORIES__TRAINING__DESCRIPTION", "Sport")
    return serve()


def test_requests_and_their_document_know_own_categories(service: Served) -> None:
    http = service.client()
    fact = {**U, "content": "Ran ten miles", "category": "training"}
    assert http.post("/v1/memories", json=fact).json()["category"] == "training"
    listed = http.get("/v1/memories", params={**U, "category": ["training", "decision"]}).json()
    assert [one["content"] for one in listed["items"]] == ["Ran ten miles"]
    refused = http.post("/v1/memories", json={**fact, "category": "trainings"})
    assert refused.status_code == 422
    assert "or 'training' (got 'trainings')" in refused.text
    document = http.get("/openapi.json").json()
    assert document["components"]["schemas"]["Category"]["enum"] == NAMES
    assert http.get("/v1/caller").json()["categories"] == NAMES


def test_a_client_gets_and_gives_own_categories(service: Served) -> None:
    with Client(service.url) as client:
        run = client.add("Ran ten miles", **U, category="training")
        assert client.get(run.id).category == "training"
        assert [one.id for one in client.list(**U, filters="category:training")] == [run.id]
        assert client.search("Ran", **U, filters={"categories": ["training"]})[0].fact == run
        with pytest.raises(InvalidInputError, match="or 'training'"):
            client.add("Ran ten miles", **U, category="trainings")


def test_tools_name_own_categories(service: Served) -> None:
    declared = service.memory.admin.settings.declared
    caller = Caller("test", ("maya",), ANYONE)

    async def use() -> None:
        server = build_server(lambda: service.memory, lambda _: caller, "five", declared)
        async with Agent(server) as agent:
            tools = {one.name: one.input_schema for one in (await agent.list_tools()).tools}
            assert tools["remember"]["properties"]["category"]["enum"] == NAMES
            for category, is_wrong in (("training", False), ("trainings", True)):
                arguments = {"content": "Ran ten miles", "category": category}
                answer = await agent.call_tool("remember", arguments)
                assert answer.is_error is is_wrong, text_of(answer.content[0])

    anyio.run(use)
    assert service.memory.list(**U)[0].category == "training"
    tools = memory_tools(service.memory, "maya")
    add = next(one for one in tools.definitions if one["function"]["name"] == "add_memory")
    assert add["function"]["parameters"]["properties"]["category"]["enum"] == NAMES
    assert "rowing" in tools.call(
        "add_memory", {"content": "Took up rowing", "category": "training", "tags": None}
    )
