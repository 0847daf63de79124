"""The MCP server, over HTTP and over standard input and output, with the SDK's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from semantic_memory import SemanticMemory
from semantic_memory.testing import InMemoryIndex
from tests.service.conftest import R, Served, W
from tests.support.mcp import hints, text_of

TOOLS = {
    "get_context",
    "search_memory",
    "list_memories",
    "profile",
    "add_memory",
    "observe_messages",
    "create_session",
    "load_session",
    "close_session",
    "forget_memories",
}
Use = Callable[[Client], Awaitable[Any]]


def over_http(service: Served, token: str | None, use: Use) -> Any:
    async def run() -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
            async with Client(transport) as client:
                return await use(client)

    return anyio.run(run)


def over_stdio(use: Use, *options: str, **environment: str) -> Any:
    async def run() -> Any:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "semantic_memory.entrypoints.cli", "mcp", *options],
            env={**os.environ, **environment},
        )
        async with Client(server) as client:
            return await use(client)

    return anyio.run(run)


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """Return a tool's structured output."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.structured_content
    return text_of(result.content[0])


async def use_everything(client: Client) -> None:
    tea = await call(client, "add_memory", content="Maya prefers tea", tags=["drink.hot"])
    assert tea["trust"] == "agent"
    said = [{"role": "user", "content": "My sister lives in Bergen."}]
    taken = await call(client, "observe_messages", session_id="s1", messages=said)
    assert taken == {"accepted": 1, "duplicates": 0}
    found = (await call(client, "search_memory", query="tea", limit=1))["memories"]
    assert (found[0]["id"], found[0]["content"]) == (tea["id"], "Maya prefers tea")
    assert found[0]["score"] > 0
    listed = await call(client, "list_memories", tags=["drink"])
    assert [memory["id"] for memory in listed["memories"]] == [tea["id"]]
    seen = await call(client, "profile")
    assert seen.keys() == {"profile", "history"}
    assert seen["history"].keys() == {"recent_months", "earlier_context", "long_term_background"}
    block = await call(client, "get_context", query="Does Maya prefer tea?", budget=200)
    assert "tea" in block["text"]
    assert block["tokens"] <= 200
    prompt = await client.get_prompt("with_memory", {"question": "Does Maya prefer tea?"})
    assert "tea" in text_of(prompt.messages[0].content)

    (resource,) = (await client.read_resource(f"memory://maya/memories/{tea['id']}")).contents
    assert json.loads(text_of(resource))["content"] == "Maya prefers tea"
    (resource,) = (await client.read_resource("memory://maya/sessions/s1")).contents
    assert text_of(resource) == "user: My sister lives in Bergen."

    assert "say what to forget" in await refusal(client, "forget_memories")
    both = {"memory_id": tea["id"], "tag": "drink"}
    assert "say what to forget" in await refusal(client, "forget_memories", **both)
    shown = await call(client, "forget_memories", memory_id=tea["id"])
    assert [one["id"] for one in shown["memories"]] == [tea["id"]]
    assert await call(client, "forget_memories", memory_id=tea["id"], confirm=True) == {
        "forgotten": 1,
        "memories": [],
        "sentences": [],
        "items": 0,
    }
    assert "no memory" in await refusal(client, "forget_memories", memory_id=tea["id"])
    assert (await call(client, "forget_memories", session_id="s1", confirm=True))["forgotten"]
    assert (await call(client, "list_memories"))["memories"] == []


def test_an_agent_does_everything_over_http(service):
    over_http(service, service.token(["maya"], [R, W]), use_everything)


def test_an_agent_does_everything_over_standard_input_and_output(tmp_path):
    data_dir = str(tmp_path / "store")
    over_stdio(use_everything, "--user", "maya", SEMANTIC_MEMORY_DATA_DIR=data_dir)


def test_tools_say_what_they_do_and_whether_they_change_anything(service):
    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == TOOLS
        for tool in tools.values():
            assert tool.description
            assert tool.output_schema
            assert "ctx" not in tool.input_schema["properties"]
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description") or name == "messages", (tool.name, name)
        reading = {name for name, tool in tools.items() if hints(tool).read_only_hint}
        assert reading == {"get_context", "search_memory", "list_memories", "profile"}
        destroying = {name for name, tool in tools.items() if hints(tool).destructive_hint}
        assert destroying == {"forget_memories"}
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 4

    over_http(service, None, use)


def test_an_agent_reaches_only_the_users_of_its_key(service):
    other = service.memory.add("Likes wine", user_id="other")

    async def use(client: Client) -> None:
        for name, arguments in (
            ("search_memory", {"query": "wine"}),
            ("get_context", {"query": "wine"}),
            ("list_memories", {}),
            ("add_memory", {"content": "Likes beer"}),
            (
                "observe_messages",
                {"session_id": "s", "messages": [{"role": "user", "content": "x"}]},
            ),
            ("create_session", {}),
            ("load_session", {"session_id": "s"}),
            ("close_session", {"session_id": "s"}),
            ("forget_memories", {"memory_id": other.id}),
        ):
            said = await refusal(client, name, user_id="other", **arguments)
            assert said.endswith("this key doesn't cover that user"), said
            nobody = await refusal(client, name, user_id="nobody", **arguments)
            assert nobody == said
        assert "no memory" in await refusal(client, "forget_memories", memory_id=other.id)
        for uri in (f"memory://other/memories/{other.id}", "memory://other/sessions"):
            with pytest.raises(Exception, match="cover that user"):
                await client.read_resource(uri)

    over_http(service, service.token(["maya"], [R, W]), use)
    assert service.memory.get(other.id) == other


def test_an_agent_that_may_only_read_changes_nothing(service):
    async def use(client: Client) -> None:
        assert (await call(client, "list_memories"))["memories"] == []
        assert "no right to write" in await refusal(client, "add_memory", content="Likes tea")

    over_http(service, service.token(["maya"], [R]), use)


def test_an_agent_with_many_users_says_whose_memory_it_means(service):
    async def use(client: Client) -> None:
        assert "give a user_id" in await refusal(client, "add_memory", content="Likes tea")
        await call(client, "add_memory", content="Likes tea", user_id="team-a")

    over_http(service, service.token(["team-*"], [R, W]), use)
    assert service.memory.admin.users() == ["team-a"]


def test_without_a_key_there_is_no_agent(service):
    service.token()

    async def use(client: Client) -> None:
        await client.list_tools()

    with pytest.raises(BaseExceptionGroup):
        over_http(service, "wrong", use)


def test_an_agent_shares_the_store_of_a_running_service(service):
    service.memory.add("Maya prefers tea", user_id="maya")

    async def use(client: Client) -> None:
        (memory,) = (await call(client, "list_memories"))["memories"]
        assert memory["content"] == "Maya prefers tea"
        await call(client, "add_memory", content="Maya has a cat")

    with service.announced():
        over_stdio(use, "--user", "maya", SEMANTIC_MEMORY_DATA_DIR=str(service.directory))
    assert len(service.memory.list(user_id="maya")) == 2


def test_tools_are_listed_before_the_store_is_open(tmp_path):
    holder = SemanticMemory.open(tmp_path, index=InMemoryIndex())

    async def use(client: Client) -> None:
        assert "get_context" in {tool.name for tool in (await client.list_tools()).tools}
        assert "is in use by process" in await refusal(client, "list_memories")
        holder.close()
        assert (await call(client, "list_memories"))["memories"] == []

    over_stdio(
        use,
        *("--user", "maya", "--data-dir", str(tmp_path)),
        SEMANTIC_MEMORY_LOCK_SECONDS="0",
    )


def test_a_store_that_no_tool_asks_for_is_not_opened(tmp_path):
    async def use(client: Client) -> None:
        await client.list_tools()

    over_stdio(use, "--user", "maya", "--data-dir", str(tmp_path / "store"))
    assert not (tmp_path / "store").exists()
