"""Tools for plain loops: their definitions, and what a model can reach through them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from examples import tool_loop
from semantic_memory import InvalidInputError, SemanticMemory, StoreClosedError
from semantic_memory.client import Client
from semantic_memory.domain.trust import Trust
from semantic_memory.integrations.tools import TOOLS, MemoryTools, memory_tools
from tests.service.conftest import Served, serve, service

__all__ = ["serve", "service"]  # fixtures


@pytest.fixture
def tools(memory: SemanticMemory) -> MemoryTools:
    return memory_tools(memory, "maya")


def parameters(definition: dict[str, Any]) -> dict[str, Any]:
    named = definition.get("function", definition)
    found: dict[str, Any] = named.get("parameters") or named["input_schema"]
    return found


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic"])
def test_definitions_are_closed_and_name_no_user(memory: SemanticMemory, form: Any) -> None:
    definitions = memory_tools(memory, "maya", form=form).definitions
    assert len(definitions) == len(TOOLS)
    for definition in definitions:
        schema = parameters(definition)
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        written = json.dumps(definition)
        assert "$ref" not in written
        assert "user_id" not in written
        assert "default" not in schema
    assert len(json.dumps(definitions)) < 4_000


def test_definitions_have_the_form_of_each_api(memory: SemanticMemory) -> None:
    chat, responses, anthropic = (
        memory_tools(memory, "maya", form=form).definitions[0]
        for form in ("openai", "responses", "anthropic")
    )
    assert chat.keys() == {"type", "function"}
    assert responses.keys() == {"type", "name", "description", "parameters", "strict"}
    assert anthropic.keys() == {"name", "description", "input_schema"}
    with pytest.raises(InvalidInputError, match="form must be"):
        memory_tools(memory, "maya", form="gemini")  # type: ignore[arg-type]


def test_a_model_adds_finds_and_deletes(memory: SemanticMemory, tools: MemoryTools) -> None:
    added = json.loads(
        tools.call("add_memory", {"content": "Plays the oboe", "category": "personal"})
    )
    fact = memory.get(added["id"])
    assert (fact.user_id, fact.trust, fact.confidence) == ("maya", Trust.AGENT, 0.9)
    found = json.loads(tools.call("search_memory", '{"query": "oboe", "limit": null}'))
    assert [one["id"] for one in found] == [fact.id]
    assert "oboe" in tools.call("get_context", '{"query": "oboe", "budget": 300}')
    deleted = asyncio.run(tools.acall("delete_memory", {"memory_id": fact.id}))
    assert json.loads(deleted) == {"forgotten": fact.id}
    assert memory.list(user_id="maya") == []


WRONG = [
    ("add_memory", {"content": "x", "category": "personal", "user_id": "kim"}, "unknown key"),
    ("add_memory", {"content": "x", "category": "mood"}, "category"),
    ("add_memory", {"content": "", "category": "personal"}, "content"),
    ("search_memory", {"query": "x", "limit": 0}, "limit"),
    ("search_memory", {}, "query"),
    ("search_memory", '{"query": ', "Error"),
    ("search_memory", "[]", "Error"),
    ("search_memory", "", "query"),
    ("delete_memory", {"memory_id": "nothing"}, "no memory"),
    ("drop_everything", {}, "no tool"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), WRONG)
def test_the_model_is_told_what_it_got_wrong(
    memory: SemanticMemory, tools: MemoryTools, name: str, arguments: Any, told: str
) -> None:
    answer = tools.call(name, arguments)
    assert answer.startswith("Error: ")
    assert told in answer
    assert memory.admin.users() == []


def test_another_users_memory_is_out_of_reach(memory: SemanticMemory, tools: MemoryTools) -> None:
    theirs = memory.add("Kim plays the oboe", user_id="kim")
    assert tools.call("search_memory", {"query": "oboe"}) == "[]"
    assert "no memory" in tools.call("delete_memory", {"memory_id": theirs.id})
    assert memory.get(theirs.id).content == "Kim plays the oboe"


def test_the_failures_of_a_store_are_raised(memory: SemanticMemory, tools: MemoryTools) -> None:
    memory.close()
    with pytest.raises(StoreClosedError):
        tools.call("search_memory", {"query": "x"})


def test_tools_work_over_a_client(service: Served) -> None:
    with Client(service.url) as client:
        tools = memory_tools(client, "maya")
        tools.call("add_memory", {"content": "Plays the oboe", "category": "personal"})
        assert "oboe" in tools.call("search_memory", {"query": "oboe"})


def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    tool_loop.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "get_context: " in printed
    assert "allergic to peanuts" in printed
    assert "/memories/cake.md" in printed


def test_tools_of_an_agent_add_and_recall_as_it(memory: SemanticMemory) -> None:
    tools = memory_tools(memory, "maya", agent_id="a", run_id="r1")
    other = memory.add("Black tea is for b", user_id="maya", agent_id="b")
    shared = memory.add("Black tea is for all", user_id="maya")
    tools.call("add_memory", {"content": "Black tea is for a", "category": "preference"})
    (own,) = memory.list(user_id="maya", agent_id="a")
    assert own.run_id == "r1"
    found = json.loads(tools.call("search_memory", {"query": "black tea"}))
    assert {one["content"] for one in found} == {"Black tea is for a", "Black tea is for all"}
    assert "for b" not in tools.call("get_context", {"query": "black tea"})
    assert tools.call("delete_memory", {"memory_id": other.id}).startswith("Error: no memory")
    for one in (own, shared):
        assert json.loads(tools.call("delete_memory", {"memory_id": one.id}))
    assert [fact.id for fact in memory.list(user_id="maya")] == [other.id]


def test_tools_recall_a_teams_memory_and_change_none_of_it(memory: SemanticMemory) -> None:
    tools = memory_tools(memory, "maya", spaces=["team-a"])
    own = memory.add("Maya deploys on Fridays", user_id="maya")
    known = memory.add("The team deploys on Mondays", user_id="team-a")
    found = json.loads(tools.call("search_memory", {"query": "When do we deploy?"}))
    assert {one["id"]: one.get("space") for one in found} == {own.id: None, known.id: "team-a"}
    assert "Mondays (of team-a)" in tools.call("get_context", {"query": "When do we deploy?"})
    assert "Error" in tools.call("delete_memory", {"memory_id": known.id})
    assert memory.get(known.id) == known
