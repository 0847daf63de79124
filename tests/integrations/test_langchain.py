"""LangChain: the middleware with real agents, the retriever and the chat message history."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from examples import langchain_agent
from semantic_memory import InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.langchain import (
    SemanticMemoryChatMessageHistory,
    SemanticMemoryMiddleware,
    SemanticMemoryRetriever,
)
from tests.integrations.sessions import said
from tests.service.conftest import served

pytestmark = pytest.mark.anyio


class Scripted(GenericFakeChatModel):
    """Follows a script, and keeps what it is told."""

    told: list[list[BaseMessage]] = []  # noqa: RUF012 - a field, copied for each model

    def bind_tools(self, *_: Any, **__: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.told.append(messages)
        return super()._generate(messages, *args, **kwargs)


def scripted(*answers: AIMessage | str) -> Scripted:
    return Scripted(messages=iter(answers), told=[])


def calls(name: str, **arguments: Any) -> AIMessage:
    call = {"name": name, "args": arguments, "id": name, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def nothing() -> str:
    """Do nothing."""
    return "I love sushi"


@dataclass
class Running:
    user_id: str


def test_a_middleware_recalls_and_observes_for_the_user_of_the_run(memory: SemanticMemory) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    memory.add("Kim plays the drums", user_id="kim", category="personal")
    model = scripted("The oboe.", "The drums.")
    middleware = SemanticMemoryMiddleware(memory, user_of=lambda runtime: runtime.context.user_id)
    agent = create_agent(
        model,
        middleware=[middleware],
        system_prompt="Be brief.",
        context_schema=Running,
        checkpointer=InMemorySaver(),
    )
    for owner in ("maya", "kim"):
        state = agent.invoke(
            {"messages": [HumanMessage("What instrument do I play?")]},
            {"configurable": {"thread_id": f"über {owner}"}},
            context=Running(owner),
        )
        assert "<memory>" not in str(state)
    first, second = (messages[0].text for messages in model.told)
    assert first.startswith("Be brief.\n\n<memory>")
    assert "oboe" in first
    assert "drums" not in first
    assert "drums" in second
    (turn,) = said(memory).values()
    assert turn == ["user: What instrument do I play?", "assistant: The oboe."]
    assert memory.sessions.list(user_id="kim")[0].session_id.startswith("esc:")


def test_a_thread_is_one_session_and_each_message_is_observed_once(memory: SemanticMemory) -> None:
    model = scripted("Hello.", calls("nothing"), "Yes.", "Three.")
    middleware = SemanticMemoryMiddleware(memory, user_of="maya")
    agent = create_agent(
        model, [tool(nothing)], middleware=[middleware], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for text in ("Hi.", "Really?"):
        agent.invoke({"messages": [HumanMessage(text)]}, config)
    two: list[Any] = [HumanMessage("One."), HumanMessage("Two.")]
    agent.invoke({"messages": two}, config)
    assert said(memory) == {
        "t": [
            "user: Hi.",
            "assistant: Hello.",
            "user: Really?",
            "assistant: Yes.",
            "user: One.",
            "user: Two.",
            "assistant: Three.",
        ]
    }


def test_history_that_a_caller_brings_along_is_not_observed(memory: SemanticMemory) -> None:
    agent = create_agent(
        scripted("Fine."), middleware=[SemanticMemoryMiddleware(memory, user_of="maya")]
    )
    before: list[Any] = [HumanMessage("I live in Lisbon."), AIMessage("Nice.")]
    agent.invoke({"messages": [*before, HumanMessage("How are you?")]})
    assert [*said(memory).values()] == [["user: How are you?", "assistant: Fine."]]
    silent = SemanticMemoryMiddleware(memory, user_of="kim", observe=False)
    create_agent(scripted("Hi."), middleware=[silent]).invoke({"messages": [HumanMessage("Hi.")]})
    assert memory.admin.users() == ["maya"]


def test_summaries_are_nobodys_words(memory: SemanticMemory) -> None:
    model = scripted("A.", "I live in Porto, it says.", "B.")
    agent = create_agent(
        model,
        middleware=[
            SummarizationMiddleware(model, trigger=("messages", 3), keep=("messages", 1)),
            SemanticMemoryMiddleware(memory, user_of="maya"),
        ],
        checkpointer=InMemorySaver(),
    )
    for text in ("One?", "Two?"):
        agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "t"}})
    assert "Porto" in str(model.told[-1])
    assert said(memory)["t"] == ["user: One?", "assistant: A.", "user: Two?", "assistant: B."]


def test_the_system_message_keeps_its_blocks(memory: SemanticMemory) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    blocks: list[Any] = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "x"}}]
    model = scripted("The oboe.", "The oboe.", "?")
    middleware = SemanticMemoryMiddleware(memory, user_of="maya", budget=200)
    question: Any = {"messages": [HumanMessage("What does Maya play?")]}
    create_agent(
        model, middleware=[middleware], system_prompt=SystemMessage(content=blocks)
    ).invoke(question)
    create_agent(model, middleware=[middleware]).invoke(question)
    empty: Any = {"messages": [HumanMessage("")]}
    create_agent(model, middleware=[middleware]).invoke(empty)
    system, alone, asked = (messages[0] for messages in model.told)
    assert system.content[0] == blocks[0]
    assert "oboe" in system.content[1]["text"]  # type: ignore[index]
    assert alone.text.startswith("<memory>")
    assert asked.type == "human"


async def test_tools_act_for_the_user_of_the_run(memory: SemanticMemory) -> None:
    theirs = memory.add("Kim plays the drums", user_id="kim")
    model = scripted(
        calls("add_memory", content="Plays the oboe", category="personal", tags=None),
        calls("delete_memory", memory_id=theirs.id),
        calls("search_memory", query="oboe", limit=None, categories=None),
        "Done.",
        calls("search_memory", query="oboe", limit=0, user_id="kim"),
        "Done.",
    )
    middleware = SemanticMemoryMiddleware(
        AsyncSemanticMemory(memory), user_of=lambda runtime: runtime.context.user_id, tools=True
    )
    agent = create_agent(model, middleware=[middleware], context_schema=Running)
    asked: Any = {"messages": [HumanMessage("Go.")]}
    state = await agent.ainvoke(asked, context=Running("maya"))
    added, refused, found = (m.text for m in state["messages"] if isinstance(m, ToolMessage))
    assert "Plays the oboe" in added
    assert refused.startswith("Error: ")
    assert "Plays the oboe" in found
    assert memory.get(theirs.id).content == "Kim plays the drums"
    state = agent.invoke(asked, context=Running("maya"))
    (wrong,) = (m.text for m in state["messages"] if isinstance(m, ToolMessage))
    assert wrong.startswith("Error: ")


@pytest.fixture
def filled(memory: SemanticMemory) -> SemanticMemory:
    for instrument in ("oboe", "piano", "lute", "harp"):
        memory.add(
            f"Maya plays the {instrument}",
            user_id="maya",
            category="personal",
            tags=["music"],
            metadata={"page": 3, "category": "own"},
        )
    return memory


async def test_a_retriever_returns_the_memories_as_documents(filled: SemanticMemory) -> None:
    retriever = SemanticMemoryRetriever(filled, user_id="maya", k=2, filters={"tags": ["music"]})
    first, second = retriever.invoke("Who plays the lute?")
    assert isinstance(first, Document)
    assert first.page_content == "Maya plays the lute"
    assert filled.get(first.id or "").content == first.page_content
    assert first.metadata["page"] == 3
    assert first.metadata["category"] == "personal"
    assert first.metadata["score"] > second.metadata["score"]
    assert len(await retriever.ainvoke("lute", None, k=3)) == 3
    assert len(retriever.batch(["lute", "harp", " "])[2]) == 0
    assert retriever.invoke("lute " * 9_000)
    other = SemanticMemoryRetriever(AsyncSemanticMemory(filled), user_id="Zoë B/1")
    assert await other.ainvoke("lute") == []


MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("I live in Lisbon.", id="h1", name="maya"),
    HumanMessage(
        content=[
            {"type": "text", "text": "What is this?"},
            {"type": "image", "base64": "iVBORw0KGgo" * 120_000, "mime_type": "image/png"},
        ],
        additional_kwargs={"n": 10**30},
    ),
    AIMessage(
        content=[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Porto. é"}],
        tool_calls=[{"name": "w", "args": {"x": None}, "id": "c1", "type": "tool_call"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model": "m"},
        id="a1",
    ),
    ToolMessage("I love sushi", tool_call_id="c1", artifact={"rows": [1]}, status="error"),
    AIMessageChunk(content="part"),
    ChatMessage(content="hey", role="other"),
    HumanMessage("a summary", additional_kwargs={"lc_source": "summarization"}),
]


async def test_a_history_gives_every_message_back_exactly(memory: SemanticMemory) -> None:
    history = SemanticMemoryChatMessageHistory("a b/ü", memory, user_id="maya")
    assert history.messages == []
    history.add_messages(MESSAGES[:3])
    await history.aadd_messages(MESSAGES[3:])
    assert history.messages == MESSAGES
    assert await history.aget_messages() == MESSAGES
    (observed,) = said(memory).values()
    assert observed == [
        "user: I live in Lisbon.",
        "user: What is this?",
        "assistant: Porto. é",
        "assistant: part",
    ]
    await history.aclear()
    assert history.messages == []
    assert len(said(memory)) == 1
    history.add_user_message("Again.")
    history.add_ai_message("Yes.")
    assert [message.text for message in history.messages] == ["Again.", "Yes."]
    history.clear()
    assert await history.aget_messages() == []


def test_a_message_that_another_is_taking_back_is_left_out(memory: SemanticMemory) -> None:
    history = SemanticMemoryChatMessageHistory("monday", memory, user_id="maya")
    history.add_messages([HumanMessage("x" * 900_000), HumanMessage("Hello")])
    part, _ = memory.items.list(["langchain", "monday", "parts"], user_id="maya")
    memory.items.delete(part.namespace, part.key, user_id="maya")
    assert [one.content for one in history.messages] == ["Hello"]


def test_a_history_keeps_what_looks_like_a_secret(memory: SemanticMemory) -> None:
    history = SemanticMemoryChatMessageHistory("monday", memory, user_id="maya")
    sealed = "gAAAAABn" + "QWxhZGRpbjpvcGVuIHNlc2FtZQ" * 20  # as encrypted reasoning looks
    given = [
        HumanMessage("My password is hunter2!xyzA"),
        AIMessage([{"type": "reasoning", "encrypted_content": sealed}, {"text": "Noted."}]),
    ]
    history.add_messages(given)
    assert [one.content for one in history.messages] == [one.content for one in given]
    assert "hunter2" not in str(said(memory))


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_a_history_is_that_of_a_runnable(memory: SemanticMemory) -> None:
    chain: Any = RunnableWithMessageHistory(
        scripted("Hello.", "Again."),
        lambda session_id: SemanticMemoryChatMessageHistory(session_id, memory, user_id="maya"),
    )
    for text in ("Hi.", "Really?"):
        chain.invoke([HumanMessage(text)], {"configurable": {"session_id": "s"}})
    assert [line.rpartition(" ")[2] for line in said(memory)["s"]] == [
        "Hi.",
        "Hello.",
        "Really?",
        "Again.",
    ]


def test_all_work_over_clients(tmp_path: Any) -> None:
    async def use(url: str) -> None:
        async with AsyncClient(url) as client:
            history = SemanticMemoryChatMessageHistory("s", client, user_id="a b")
            await history.aadd_messages(MESSAGES)
            assert await history.aget_messages() == MESSAGES
            with pytest.raises(InvalidInputError, match="AsyncClient"):
                history.clear()
            await client.add("Plays the oboe", user_id="esc:a+20b")
            middleware = SemanticMemoryMiddleware(client, user_of="a b")
            model = scripted("The oboe.")
            agent = create_agent(model, middleware=[middleware])
            await agent.ainvoke({"messages": [HumanMessage("What do I play?")]})
            assert "oboe" in model.told[0][0].text
            found = await SemanticMemoryRetriever(client, user_id="a b").ainvoke("oboe")
            assert "Plays the oboe" in [document.page_content for document in found]

    with served(tmp_path / "served") as service:
        asyncio.run(use(service.url))
        with Client(service.url) as client:
            history = SemanticMemoryChatMessageHistory("s", client, user_id="a b")
            assert history.messages == MESSAGES


def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    langchain_agent.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "The user is allergic to peanuts" in printed
    assert "agent: No peanuts, as you are allergic." in printed
    assert "found: " in printed
