"""The capability of pydantic-ai: its contract, with real agents and scripted models."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai")

from pydantic_ai import Agent, BinaryContent, ToolReturn
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from examples import pydantic_ai_agent
from semantic_memory import InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.pydantic_ai import SemanticMemoryCapability
from tests.integrations.sessions import said
from tests.service.conftest import Served, served

pytestmark = pytest.mark.anyio


@dataclass
class Deps:
    user_id: str


class Scripted:
    """A model that answers with parts in order, and keeps what it is told."""

    def __init__(self, *answers: Any) -> None:
        self.told: list[AgentInfo] = []
        self._answers: Iterator[Any] = iter(answers)
        self.model = FunctionModel(self._answer, stream_function=self._streamed)

    def _answer(self, _: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.told.append(info)
        answer = next(self._answers)
        return ModelResponse([TextPart(answer)] if isinstance(answer, str) else answer)

    async def _streamed(self, _: list[ModelMessage], info: AgentInfo) -> Any:
        self.told.append(info)
        for word in next(self._answers).split():
            yield f"{word} "


def of_run(ctx: Any) -> str:
    user_id: str = ctx.deps.user_id
    return user_id


async def test_a_capability_recalls_and_observes_for_the_user_of_the_run(
    memory: SemanticMemory,
) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    memory.add("Kim plays the drums", user_id="kim", category="personal")
    script = Scripted("The oboe.", "The drums.", "?")
    agent = Agent(
        script.model,
        deps_type=Deps,
        instructions="Be brief.",
        capabilities=[SemanticMemoryCapability(memory, user_of=of_run, budget=200)],
    )
    for owner in ("maya", "kim"):
        await agent.run("What instrument do I play?", deps=Deps(owner), conversation_id="a b/ü")
    first, second = (info.instructions or "" for info in script.told)
    assert first.startswith("Be brief.")
    assert "oboe" in first
    assert "drums" not in first
    assert "drums" in second
    (session,) = said(memory)
    assert session.startswith("esc:a+20b")
    assert [*said(memory).values()] == [
        ["user: What instrument do I play?", "assistant: The oboe."]
    ]
    await agent.run(" ", deps=Deps("zoë"))
    assert script.told[-1].instructions == "Be brief."


async def test_a_conversation_is_one_session_and_each_message_is_observed_once(
    memory: SemanticMemory,
) -> None:
    script = Scripted("Hello.", [ThinkingPart("hm"), TextPart("Yes"), TextPart("sir.")], "Bye.")
    agent = Agent(script.model, capabilities=[SemanticMemoryCapability(memory, user_of="maya")])
    first = await agent.run("Hi.", conversation_id="c")
    second = await agent.run("Really?", message_history=first.all_messages())
    async with agent.run_stream("Go.", message_history=second.all_messages()) as stream:
        await stream.get_output()
    assert said(memory) == {
        "c": [
            "user: Hi.",
            "assistant: Hello.",
            "user: Really?",
            "assistant: Yes\nsir.",
            "user: Go.",
            "assistant: Bye. ",
        ]
    }


async def test_only_texts_of_the_user_and_the_model_are_observed(memory: SemanticMemory) -> None:
    script = Scripted(
        [TextPart("Looking."), ToolCallPart("look", {}), ToolCallPart("unknown", {})], "A cat."
    )
    agent = Agent(
        script.model,
        system_prompt="I live in Porto.",
        capabilities=[SemanticMemoryCapability(memory, user_of="maya")],
    )

    @agent.tool_plain
    def look() -> ToolReturn:
        return ToolReturn("I love sushi", content="I love ramen")

    image = BinaryContent(b"\x89PNG", media_type="image/png")
    result = await agent.run(["What is this?", image, "Tell me."])
    assert {"sushi", "ramen"} <= {*re.findall("sushi|ramen", str(result.all_messages()))}
    assert [*said(memory).values()] == [
        ["user: What is this?\nTell me.", "assistant: Looking.", "assistant: A cat."]
    ]
    silent = SemanticMemoryCapability(memory, user_of="kim", observe=False)
    await Agent(Scripted("Hi.").model, capabilities=[silent]).run("Hi.")
    assert memory.admin.users() == ["maya"]


async def test_tools_act_for_the_user_of_the_run(memory: SemanticMemory) -> None:
    theirs = memory.add("Kim plays the drums", user_id="kim")
    added = {"content": "Plays the oboe", "category": "personal", "tags": None}
    script = Scripted(
        [ToolCallPart("add_memory", added)],
        [ToolCallPart("delete_memory", {"memory_id": theirs.id})],
        [ToolCallPart("search_memory", '{"query": "oboe", "limit": null, "user_id": "kim"}')],
        [ToolCallPart("search_memory", '{"query": "oboe", "limit": null, "categories": null}')],
        "Done.",
    )
    remembering = SemanticMemoryCapability(
        AsyncSemanticMemory(memory), user_of=of_run, observe=False, tools=True
    )
    agent = Agent(script.model, deps_type=Deps, capabilities=[remembering])
    result = await agent.run("Go.", deps=Deps("maya"))
    answers = [
        str(part.content)
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert "Plays the oboe" in answers[0]
    assert answers[1].startswith("Error: ")
    assert "unknown key" in answers[2]
    assert "Plays the oboe" in answers[3]
    assert memory.get(theirs.id).content == "Kim plays the drums"
    schemas = {tool.name: tool.parameters_json_schema for tool in script.told[0].function_tools}
    assert [*schemas] == ["get_context", "search_memory", "add_memory", "delete_memory"]
    assert "user_id" not in str(schemas)


async def test_every_tool_can_be_called_by_a_model(memory: SemanticMemory) -> None:
    remembering = SemanticMemoryCapability(memory, user_of="maya", tools=True)
    agent = Agent(TestModel(), capabilities=[remembering])
    assert "add_memory" in (await agent.run("Call them all.")).output
    assert memory.admin.users() == ["maya"]


def test_it_works_over_clients(tmp_path: Any) -> None:
    async def use(memory: Any, embedded: Callable[[], Any]) -> str:
        script = Scripted("Nice.", "The oboe.")
        remembering = SemanticMemoryCapability(memory, user_of="a b")
        agent = Agent(script.model, capabilities=[remembering])
        await agent.run("I play the oboe.")
        await asyncio.to_thread(embedded)
        await agent.run("What do I play?")
        return script.told[-1].instructions or ""

    async def use_asynchronous(service: Served) -> str:
        async with AsyncClient(service.url) as client:
            with pytest.raises(InvalidInputError, match="AsyncClient"):
                Agent(
                    TestModel(),
                    capabilities=[SemanticMemoryCapability(client, user_of="x", tools=True)],
                )
            return await use(client, service.memory.flush)

    with served(tmp_path / "served") as service:
        assert "oboe" in asyncio.run(use_asynchronous(service))
        with Client(service.url) as client:
            assert "oboe" in asyncio.run(use(client, service.memory.flush))


async def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    await pydantic_ai_agent.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "The user is allergic to peanuts" in printed
    assert "agent: No peanuts, as you are allergic." in printed
