"""The context provider of Microsoft's Agent Framework, with real agents and scripted models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("agent_framework", reason="needs the extra agent-framework")

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

from examples import agent_framework_agent
from semantic_memory import InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.agent_framework import SemanticMemoryProvider
from tests.integrations.sessions import said
from tests.service.conftest import served

pytestmark = pytest.mark.anyio


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A model that answers with contents in order, and keeps what it is told."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.told: list[Mapping[str, Any]] = []
        self.messages: list[Sequence[Message]] = []
        self.answers: Iterator[Any] = iter(answers)

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        self.told.append(options)
        self.messages.append(messages)
        answer = next(self.answers)
        contents = [answer] if isinstance(answer, str | Content) else answer
        if stream:
            return ResponseStream(self._streamed(contents), finalizer=ChatResponse.from_updates)
        return self._answered(contents)

    async def _answered(self, contents: Sequence[Any]) -> ChatResponse:
        return ChatResponse(messages=[Message(role="assistant", contents=contents)])

    async def _streamed(self, contents: Sequence[Any]) -> AsyncIterator[ChatResponseUpdate]:
        for one in contents:
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(one)])


def called(name: str, arguments: Mapping[str, Any]) -> Content:
    return Content.from_function_call(call_id=name, name=name, arguments=json.dumps(arguments))


def of_session(session: AgentSession) -> str:
    return str(session.state["user_id"])


async def test_a_provider_recalls_and_observes_for_the_user_of_the_session(
    memory: SemanticMemory,
) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    memory.add("Kim plays the drums", user_id="kim", category="personal")
    model = Scripted("The oboe.", "The drums.", "?")
    provider = SemanticMemoryProvider(memory, user_of=of_session, budget=200)
    agent = Agent(model, "Be brief.", context_providers=[provider])
    for owner in ("maya", "kim"):
        session = agent.create_session(session_id="a b/ü")
        session.state["user_id"] = owner
        await agent.run("What instrument do I play?", session=session)
    first, second = (told["instructions"] for told in model.told)
    assert first.startswith("Be brief.")
    assert "oboe" in first
    assert "drums" not in first
    assert "drums" in second
    (session_id,) = said(memory)
    assert session_id.startswith("esc:a+20b")
    assert [*said(memory).values()] == [
        ["user: What instrument do I play?", "assistant: The oboe."]
    ]
    session.state["user_id"] = "zoë"
    await agent.run(" ", session=session)
    assert model.told[-1]["instructions"] == "Be brief."


async def test_a_session_is_one_session_and_each_message_is_observed_once(
    memory: SemanticMemory,
) -> None:
    model = Scripted("Hello.", "Yes.", ["By", "e."])
    agent = Agent(model, context_providers=[SemanticMemoryProvider(memory, user_of="maya")])
    session = agent.create_session(session_id="c")
    await agent.run("Hi.", session=session)
    await agent.run("Really?", session=session)
    async for _ in agent.run("Go.", session=session, stream=True):
        pass
    assert [message.text for message in model.messages[-1]] == [
        "Hi.",
        "Hello.",
        "Really?",
        "Yes.",
        "Go.",
    ]
    assert said(memory) == {
        "c": [
            "user: Hi.",
            "assistant: Hello.",
            "user: Really?",
            "assistant: Yes.",
            "user: Go.",
            "assistant: Bye.",
        ]
    }


async def test_only_what_the_user_says_now_and_the_agent_answers_is_observed(
    memory: SemanticMemory,
) -> None:
    def look() -> str:
        """Look."""
        return "I love sushi"

    model = Scripted([Content.from_text("Looking."), called("look", {})], "A cat.")
    provider = SemanticMemoryProvider(memory, user_of="maya")
    agent = Agent(model, tools=[look], context_providers=[provider])
    earlier = [
        Message(role="user", contents=["I live in Porto."]),
        Message(role="assistant", contents=["Nice."]),
    ]
    image = Content.from_uri("https://example.com/cat.png", media_type="image/png")
    now = Message(role="user", contents=["What is this?", image, "Tell me."])
    await agent.run([*earlier, now])
    assert [*said(memory).values()] == [
        ["user: What is this?\nTell me.", "assistant: Looking.", "assistant: A cat."]
    ]
    silent = SemanticMemoryProvider(memory, user_of="kim", observe=False)
    await Agent(Scripted("Hi."), context_providers=[silent]).run("Hi.")
    assert memory.admin.users() == ["maya"]


@pytest.mark.filterwarnings("ignore:.*AgentLoopMiddleware is experimental")
async def test_what_a_loop_says_for_the_user_is_not_observed(memory: SemanticMemory) -> None:
    model = Scripted("One.", "Two.")
    loop = AgentLoopMiddleware(lambda iteration, **_: iteration < 2)
    provider = SemanticMemoryProvider(memory, user_of="maya")
    agent = Agent(model, middleware=[loop], context_providers=[provider])
    await agent.run("Count.", session=agent.create_session(session_id="c"))
    assert len(model.told) == 2
    assert said(memory) == {"c": ["user: Count.", "assistant: One.", "assistant: Two."]}


async def test_tools_act_for_the_user_of_the_session(memory: SemanticMemory) -> None:
    theirs = memory.add("Kim plays the drums", user_id="kim")
    added = {"content": "Plays the oboe", "category": "personal", "tags": None}
    model = Scripted(
        called("add_memory", added),
        called("delete_memory", {"memory_id": theirs.id}),
        called("search_memory", {"query": "oboe", "limit": None, "categories": None}),
        "Done.",
    )
    provider = SemanticMemoryProvider(
        AsyncSemanticMemory(memory), user_of="maya", observe=False, tools=True
    )
    response = await Agent(model, context_providers=[provider]).run("Go.")
    answers = [
        str(part.result)
        for message in response.messages
        for part in message.contents
        if part.type == "function_result"
    ]
    assert "Plays the oboe" in answers[0]
    assert answers[1].startswith("Error: ")
    assert "Plays the oboe" in answers[2]
    assert memory.get(theirs.id).content == "Kim plays the drums"
    assert [tool.name for tool in model.told[0]["tools"]] == [
        "get_context",
        "search_memory",
        "add_memory",
        "delete_memory",
    ]


def test_it_works_over_clients(tmp_path: Any) -> None:
    async def use(memory: Any) -> str:
        model = Scripted("Nice.", "The oboe.")
        provider = SemanticMemoryProvider(memory, user_of="a b")
        agent = Agent(model, context_providers=[provider])
        await agent.run("I play the oboe.")
        await agent.run("What do I play?")
        return str(model.told[-1]["instructions"])

    async def use_asynchronous(url: str) -> str:
        async with AsyncClient(url) as client:
            with pytest.raises(InvalidInputError, match="AsyncClient"):
                SemanticMemoryProvider(client, user_of="x", tools=True)
            return await use(client)

    with served(tmp_path / "served") as service:
        assert "oboe" in asyncio.run(use_asynchronous(service.url))
        with Client(service.url) as client:
            assert "oboe" in asyncio.run(use(client))


async def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    await agent_framework_agent.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "The user is allergic to peanuts." in printed
    assert "agent: No peanuts, as you are allergic." in printed
