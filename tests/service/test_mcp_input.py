"""Odd arguments of MCP tools: each is answered, or refused by an error that says why."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.client import Client

from semantic_memory import SemanticMemory
from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.mcp.server import build_server
from tests.support.mcp import text_of

CALLER = Caller("test", ("maya",), ANYONE)
MESSAGE = {"role": "user", "content": "I live in Oslo."}
TOOLS: dict[str, dict[str, Any]] = {
    "remember": {"content": "Likes tea"},
    "recall": {"query": "tea"},
    "update_memory": {"tags": ["drink"]},
    "forget": {"about": "tea"},
    "observe": {"session_id": "s1", "messages": [MESSAGE]},
    "profile": {},
    "list_memories": {},
    "create_session": {},
    "load_session": {"session_id": "s1"},
    "close_session": {"session_id": "s1"},
    "forget_memories": {"query": "tea"},
}
"""Arguments that each tool needs."""
DATES = (
    "9999-12-31",
    "0001-01-01",
    "0000-00-00",
    "9999-12-31T23:59:59+14:00",
    "10000-01-01",
    1e300,
)
TEXTS = ("", " ", "\ud800", "a\x00b", "\u202e", "x" * 2_000_000, "[" * 8_000, "since 9999-12-31")
NUMBERS: tuple[Any, ...] = (
    -1,
    0,
    1.5,
    10**400,
    float("nan"),
    float("inf"),
    "many",
    True,
    None,
    [],
    {},
)
ODD: dict[str, tuple[Any, ...]] = {
    "about": (*TEXTS, 3, None, ["tea"]),
    "as_context": ("perhaps", 3, []),
    "query": (*TEXTS, 3, None, ["tea"], "9999-12-31", "in the year 1"),
    "where": (*TEXTS, "(" * 300, "tag:", "since:9999-12-31", '{"$or": 1}', 7, "limit:1e9"),
    "limit": NUMBERS,
    "after": (*TEXTS, 5),
    "since": (*DATES, "yesterday", [], "\ud800"),
    "until": (*DATES, {}, True),
    "expires_at": (*DATES, "soon"),
    "category": ("tea", 3, []),
    "tags": ("drink", [""], ["\ud800"], ["a" * 5_000], [3], [["a"]]),
    "content": (*TEXTS, 3, None, []),
    "session_id": (*TEXTS, "../../etc", 3, []),
    "messages": (
        [],
        {},
        "hello",
        [None],
        [[]],
        [{}],
        [{"role": "king", "content": "x"}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": "\ud800"}],
        [{"role": "user", "content": "x", "bogus": 1}],
        [{"role": "user", "content": "x", "created_at": "9999-12-31"}],
        [{"role": "user", "content": "x", "expires_at": "0001-01-01"}],
        [{"role": "user", "content": "since 9999-12-31"}],
        [MESSAGE] * 20_000,
    ),
    "memory_id": (*TEXTS, 3),
    "entity": (*TEXTS, 3),
    "tag": (*TEXTS, 3),
    "source": (*TEXTS, "nonsense:", "role:", 3),
    "everything": ("perhaps", 3, []),
    "confirm": ("perhaps", 3, []),
    "withdraw": ("perhaps", 3, []),
    "keep_source": ("perhaps", 3, []),
    "force": ("perhaps", 3, []),
}
REFUSED = ("bogus", "Query", "kk", "ctx")
"""Names of arguments that no tool has."""


@pytest.fixture
def memory(open_memory: Any) -> SemanticMemory:
    opened: SemanticMemory = open_memory()
    fact = opened.add("Likes tea", user_id="maya")
    TOOLS["update_memory"]["memory_id"] = fact.id
    opened.sessions.create(user_id="maya", session_id="s1")
    return opened


def answers(memory: SemanticMemory, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return each call's error as text, or None if it was answered."""

    async def use() -> list[Any]:
        found: list[Any] = []
        async with Client(build_server(lambda: memory, lambda _: CALLER, "all")) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                found.append(text_of(result.content[0]) if result.is_error else None)
        return found

    return anyio.run(use)


def clear(name: str, error: str | None) -> bool:
    """Return True unless an error is a crash, of which the SDK tells nothing but the tool."""
    return error is None or (
        not error.startswith(f"Error executing tool {name}")
        and "pydantic" not in error
        and "Traceback" not in error
        and "internal" not in error.casefold()
        and len(error) < 5_000
    )


@pytest.mark.parametrize("tool", TOOLS)
def test_odd_arguments_are_answered_or_refused(memory: SemanticMemory, tool: str) -> None:
    async def known() -> list[str]:
        async with Client(build_server(lambda: memory, lambda _: CALLER, "all")) as client:
            (found,) = [one for one in (await client.list_tools()).tools if one.name == tool]
            assert found.input_schema["additionalProperties"] is False
            return [*found.input_schema["properties"]]

    names = anyio.run(known)
    assert set(names) <= ODD.keys()
    calls = [(tool, {**TOOLS[tool], name: value}) for name in names for value in ODD[name]]
    told = answers(memory, calls)
    unclear = [
        (str(arguments)[:120], error)
        for (_, arguments), error in zip(calls, told, strict=True)
        if not clear(tool, error)
    ]
    assert unclear == []


@pytest.mark.parametrize("tool", TOOLS)
def test_an_argument_that_a_tool_does_not_know_is_refused(
    memory: SemanticMemory, tool: str
) -> None:
    calls = [(tool, {**TOOLS[tool], name: 1}) for name in REFUSED]
    assert answers(memory, [(tool, TOOLS[tool])]) == [None]
    told = zip(answers(memory, calls), REFUSED, strict=True)
    assert all(error and name in error for error, name in told)
