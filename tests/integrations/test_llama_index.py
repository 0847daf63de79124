"""The memory block of LlamaIndex, with its memory, real engines and scripted models."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.llms import (
    ChatMessage,
    CompletionResponse,
    CustomLLM,
    ImageBlock,
    LLMMetadata,
    TextBlock,
)
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.storage.chat_store.sql import MessageStatus

from examples import llama_index_chat
from semantic_memory import SemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.llama_index import SemanticMemoryBlock
from tests.integrations.sessions import said
from tests.service.conftest import served

pytestmark = [
    pytest.mark.anyio,
    # The default chat store of a `Memory` never closes its connection.
    pytest.mark.filterwarnings("ignore:.*was deleted before being closed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _no_connection_left_to_other_tests() -> Iterator[None]:
    yield
    gc.collect()


class Scripted(CustomLLM):
    """A model that gives its answers in order, and keeps what it is told."""

    answers: list[str]
    told: list[str] = []  # noqa: RUF012  # pydantic copies it

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        self.told.append(prompt)
        return CompletionResponse(text=self.answers[len(self.told) - 1])

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        answer = self.complete(prompt).text
        yield CompletionResponse(text=answer, delta=answer)


def user(text: str, **more: Any) -> ChatMessage:
    return ChatMessage(role="user", content=text, **more)


def answer(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


async def test_the_block_is_packed_for_the_users_last_message(memory: SemanticMemory) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    memory.add("Kim plays the drums", user_id="kim", category="personal")
    block = SemanticMemoryBlock(memory=memory, user_id="maya", budget=200)
    history = Memory.from_defaults(session_id="c", memory_blocks=[block])
    assert await history.aget() == []
    await history.aput(user("What instrument do I play?"))
    system, question = await history.aget()
    assert (system.role, question.content) == ("system", "What instrument do I play?")
    assert "oboe" in (system.content or "")
    assert "drums" not in (system.content or "")
    system, *_ = await history.aget(input="Does Kim play the oboe?")
    assert "oboe" in (system.content or "")


async def test_each_text_of_a_session_is_observed_once(memory: SemanticMemory) -> None:
    block = SemanticMemoryBlock(memory=memory, user_id="maya")
    history = Memory.from_defaults(
        session_id="a b", memory_blocks=[block], insert_method=InsertMethod.USER
    )
    await history.aput(user("I keep bees."))
    for _ in range(3):
        await history.aget()
    await history.aput_messages([answer("How many?"), user("Two hives.")])
    await history.aget()
    again = SemanticMemoryBlock(memory=memory, user_id="maya")  # as after a restart
    await again.aget(await history.aget_all(), session_id="a b")
    assert said(memory) == {
        "esc:a+20b": ["user: I keep bees.", "assistant: How many?", "user: Two hives."]
    }


async def test_messages_that_leave_the_history_are_observed(memory: SemanticMemory) -> None:
    block = SemanticMemoryBlock(memory=memory, user_id="maya")
    history = Memory.from_defaults(
        session_id="c", token_limit=40, token_flush_size=10, memory_blocks=[block]
    )
    for number in range(6):
        turn = [
            user(f"I have been to town {number}."),
            answer(f"How nice was it, number {number}?"),
        ]
        await history.aput_messages(turn)
    kept = await history.aget_all(status=MessageStatus.ACTIVE)
    left = (await history.aget_all())[: -len(kept)]
    assert left
    assert said(memory) == {"c": [f"{one.role.value}: {one.content}" for one in left]}


async def test_only_texts_of_the_user_and_the_assistant_are_observed(
    memory: SemanticMemory,
) -> None:
    block = SemanticMemoryBlock(memory=memory, user_id="maya")
    image = ImageBlock(url="https://example.com/cat.png")
    blocks = [TextBlock(text="What is this?"), image, TextBlock(text="Tell me.")]
    messages = [
        ChatMessage(role="system", content="I live in Porto."),
        ChatMessage(role="user", blocks=blocks),
        ChatMessage(role="tool", content="I love sushi", additional_kwargs={"tool_call_id": "1"}),
        answer("A cat."),
        answer(" "),
    ]
    await block.aput(messages)
    assert said(memory) == {"llama_index": ["user: What is this?\nTell me.", "assistant: A cat."]}
    silent = SemanticMemoryBlock(memory=memory, user_id="kim", observe=False)
    await silent.aget([user("I play the drums.")], session_id="c")
    await silent.aput([user("I play the drums.")])
    assert memory.admin.users() == ["maya"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own use of pydantic
async def test_an_agent_remembers_what_it_was_told_in_another_session(
    memory: SemanticMemory,
) -> None:
    model = Scripted(answers=["Thought: Easy.\nAnswer: Noted.", "Thought: Easy.\nAnswer: Oboe."])
    block = SemanticMemoryBlock(memory=memory, user_id="maya")
    agent = ReActAgent(llm=model, streaming=False)
    for day, question in (("monday", "I play the oboe."), ("tuesday", "What do I play?")):
        history = Memory.from_defaults(
            session_id=day, memory_blocks=[block], insert_method=InsertMethod.USER
        )
        await agent.run(question, memory=history)
        memory.flush()
    assert "oboe" in model.told[-1]
    assert said(memory)["monday"] == [
        "user: I play the oboe.",
        "assistant: Thought: Easy.\nAnswer: Noted.",
    ]


def test_it_works_over_clients(tmp_path: Any) -> None:
    async def use(memory: Any) -> str:
        block = SemanticMemoryBlock(memory=memory, user_id="a b")
        await block.aget([user("I play the oboe.")], session_id="one")
        return str(await block.aget([user("What do I play?")], session_id="two"))

    async def use_asynchronous(url: str) -> str:
        async with AsyncClient(url) as client:
            return await use(client)

    with served(tmp_path / "served") as service:
        assert "oboe" in asyncio.run(use_asynchronous(service.url))
        with Client(service.url) as client:
            assert "oboe" in asyncio.run(use(client))


async def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    await llama_index_chat.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "The user is allergic to peanuts." in printed
    assert "agent: No peanuts, as you are allergic." in printed
