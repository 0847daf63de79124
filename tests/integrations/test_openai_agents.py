"""The session of the OpenAI Agents SDK: its contract, every kind of item, and an agent."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

pytest.importorskip("agents", reason="needs the extra openai-agents")

from agents import Agent, ModelSettings, OpenAIResponsesCompactionSession, RunConfig, Runner
from agents import Session as SessionProtocol
from agents.testing import ScriptedModel, assistant_message, function_call

from examples import openai_agents_session
from semantic_memory import InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.openai_agents import (
    SemanticMemorySession,
    function_tools,
    recall,
)
from tests.service.conftest import served

IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 150_000  # 1.65 MB: in several parts
ITEMS: list[Any] = [
    {"role": "user", "content": "I live in Lisbon."},
    {"type": "message", "role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": IMAGE, "detail": "auto"},
            {"type": "input_file", "file_data": "JVBERi0=", "filename": "ä b.pdf"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "A picture of Porto."}],
        "encrypted_content": "gAAAA" * 9,
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city":"Lisbon"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "20 °C, I love sushi"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "Porto.", "annotations": [], "logprobs": []},
            {"type": "refusal", "refusal": "No more."},
        ],
    },
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "x" * 99},
    {"type": "item_reference", "id": "msg_0"},
    {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
    {"role": "user", "content": ""},
    {"role": "user", "content": "a\x00b \ud83d alone"},
    {"role": "user", "content": [], "extra": {"n": 10**30, "f": 1.0, "t": True, "none": None}},
]

pytestmark = pytest.mark.anyio


@pytest.fixture
def session(memory: SemanticMemory) -> SemanticMemorySession:
    return SemanticMemorySession("monday", memory, user_id="maya")


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def said(memory: SemanticMemory, session_id: str = "monday") -> list[tuple[str, str]]:
    messages = memory.sessions.messages(user_id="maya", session_id=session_id)
    return [(message.role, message.content) for message in messages]


def facts(memory: SemanticMemory) -> list[str]:
    memory.flush()
    found = memory.list(user_id="maya")
    return sorted(fact.content for fact in found if fact.category != "conversation")


async def test_items_of_every_kind_come_back_exactly(session: SemanticMemorySession) -> None:
    await session.add_items(ITEMS[:4])
    await session.add_items(ITEMS[4:])
    found = await session.get_items()
    assert found == ITEMS
    assert [list(one) for one in found] == [list(one) for one in ITEMS]  # the order of keys too
    for item in reversed(ITEMS):
        assert await session.pop_item() == item
    assert await session.pop_item() is None
    assert await session.get_items() == []


async def test_what_is_said_in_text_is_observed(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    await session.add_items(ITEMS)
    assert said(memory) == [
        ("user", "I live in Lisbon."),
        ("user", "What is this?"),
        ("assistant", "Porto."),
        ("user", "ab ? alone"),
    ]
    assert facts(memory) == ["The user lives in Lisbon."]
    silent = SemanticMemorySession("silent", memory, user_id="maya", observe=False)
    await silent.add_items([user("I play the oboe.")])
    assert [one.session_id for one in memory.sessions.list(user_id="maya")] == ["monday"]


async def test_limits_are_those_of_the_sdk(memory: SemanticMemory) -> None:
    session = SemanticMemorySession(
        "monday", memory, user_id="maya", session_settings={"limit": 2}, observe=False
    )
    assert isinstance(session, SessionProtocol)
    items = [user(str(number)) for number in range(5)]
    await session.add_items(items)
    await session.add_items([])
    assert await session.get_items() == items[3:]
    assert await session.get_items(limit=4) == items[1:]
    assert await session.get_items(limit=9) == items
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=-1) == items


async def test_popping_takes_back_what_only_that_message_supported(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    await session.add_items([user("I live in Lisbon."), user("I am allergic to peanuts.")])
    assert facts(memory) == ["The user is allergic to peanuts.", "The user lives in Lisbon."]
    await session.add_items([user("I live in Lisbon and I am allergic to nuts.")])
    memory.flush()
    await session.pop_item()
    assert await session.pop_item() == user("I am allergic to peanuts.")
    assert facts(memory) == ["The user lives in Lisbon."]
    assert said(memory) == [("user", "I live in Lisbon.")]
    await session.add_items([user("I am allergic to peanuts.")])
    await session.pop_item()  # before anything was extracted from it
    await session.add_items([user("I am allergic to peanuts.")])  # as a retry says it again
    assert facts(memory) == ["The user is allergic to peanuts.", "The user lives in Lisbon."]


async def test_clearing_leaves_what_was_said_to_the_memory(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    await session.add_items(ITEMS)
    await session.clear_session()
    assert await session.get_items() == []
    assert memory.admin.stats().items == 0
    assert facts(memory) == ["The user lives in Lisbon."]


async def test_what_a_compaction_puts_back_is_not_said_again(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    class Compact:
        async def compact(self, **_: Any) -> Any:
            kept = [user("I live in Lisbon."), {"type": "compaction", "encrypted_content": "x"}]
            return type("Compacted", (), {"output": kept, "usage": None})()

    client: Any = type("Client", (), {"responses": Compact()})()
    wrapped = OpenAIResponsesCompactionSession(
        "monday", session, client=client, compaction_mode="input"
    )
    before = [user("I live in Lisbon."), user("yes"), user("yes")]
    await wrapped.add_items(before)
    await wrapped.run_compaction({"force": True})
    assert len(await session.get_items()) == 2
    assert said(memory) == [("user", "I live in Lisbon."), ("user", "yes"), ("user", "yes")]
    await wrapped.add_items([user("yes")])
    assert len(said(memory)) == 4
    for _ in range(3):
        await wrapped.pop_item()
    assert said(memory) == [("user", "yes"), ("user", "yes")]
    assert facts(memory) == []


async def test_what_json_cannot_hold_is_refused_and_nothing_of_the_call_is_kept(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    with pytest.raises(TypeError):
        await session.add_items(
            [user("I live in Lisbon."), {"role": "user", "content": "x", "bad": {1}}]
        )
    assert await session.get_items() == []
    assert memory.admin.users() == []
    await session.add_items([{"role": "user", "content": "", "f": math.inf}])
    assert await session.get_items() == [{"role": "user", "content": "", "f": math.inf}]


IDS = ["a b", "a/b", "../..", "Zoë", "日本", "x" * 300, "esc:a", "a+20b", "%2F", "\x00"]


async def test_sessions_and_users_with_any_ids_stay_apart(memory: SemanticMemory) -> None:
    sessions = [SemanticMemorySession(one, memory, user_id=one) for one in IDS]
    sessions += [SemanticMemorySession(one, memory, user_id="maya") for one in IDS]
    for number, session in enumerate(sessions):
        await session.add_items([user(f"number {number}")])
    for number, session in enumerate(sessions):
        assert await session.get_items() == [user(f"number {number}")]
        assert session.session_id == IDS[number % len(IDS)]
    assert len(memory.admin.users()) == len(IDS) + 1
    for wrong in ("", 7):
        with pytest.raises(InvalidInputError, match="an id must be a text"):
            SemanticMemorySession(wrong, memory, user_id="maya")  # type: ignore[arg-type]


async def test_items_go_with_their_user(memory: SemanticMemory) -> None:
    for owner in ("maya", "kim"):
        await SemanticMemorySession("s", memory, user_id=owner).add_items(ITEMS)
    memory.forget(user_id="maya", everything=True)
    assert await SemanticMemorySession("s", memory, user_id="maya").get_items() == []
    assert await SemanticMemorySession("s", memory, user_id="kim").get_items() == ITEMS


async def test_concurrent_calls_lose_nothing_and_leave_batches_whole(
    session: SemanticMemorySession,
) -> None:
    batches = [[user(f"{n}.{m}") for m in range(3)] for n in range(8)]
    await asyncio.gather(*map(session.add_items, batches))
    found = await session.get_items()
    assert sorted(map(str, found)) == sorted(str(item) for batch in batches for item in batch)
    assert all(found[at : at + 3] in batches for at in range(0, 24, 3))
    popped = await asyncio.gather(*(session.pop_item() for _ in range(25)))
    assert sorted(map(str, filter(None, popped))) == sorted(map(str, found))


async def test_a_long_session_is_read_in_pages(session: SemanticMemorySession) -> None:
    items: list[Any] = [{"type": "item_reference", "id": str(number)} for number in range(1_203)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(1_100) == items[103:]


def test_a_session_works_over_clients(tmp_path: Any) -> None:
    async def use(memory: Any, name: str) -> None:
        session = SemanticMemorySession(f"über/{name}", memory, user_id="a b")
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(1) == ITEMS[-1:]
        assert await session.pop_item() == ITEMS[-1]
        assert await session.pop_item() == ITEMS[-2]  # which was observed
        await session.clear_session()
        assert await session.pop_item() is None

    async def use_asynchronous(url: str) -> None:
        async with AsyncClient(url) as client:
            await use(client, "awaited")

    with served(tmp_path / "served") as service:
        with Client(service.url) as client:
            asyncio.run(use(client, "waited"))
        asyncio.run(use_asynchronous(service.url))


async def test_an_agent_calls_tools_and_its_items_come_back(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    added = {"content": "Plays the oboe", "category": "personal", "tags": None}
    model = ScriptedModel(
        [
            [function_call("add_memory", added, call_id="c1")],
            [function_call("add_memory", {"content": "x"}, call_id="c2")],
            [assistant_message("Noted.")],
        ]
    )
    tools: Any = function_tools(AsyncSemanticMemory(memory), user_id="maya")
    agent = Agent(name="a", model=model, tools=tools, model_settings=ModelSettings())
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(agent, "I play the oboe.", session=session, run_config=config)
    assert result.final_output == "Noted."
    items: Any = await session.get_items()
    kinds = [item.get("type", "message") for item in items]
    call = ["function_call", "function_call_output"]
    assert kinds == ["message", *call, *call, "message"]
    assert "Plays the oboe" in items[2]["output"]
    assert items[4]["output"].startswith("Error: ")
    assert facts(memory) == ["The user plays the oboe."]
    model.enqueue([assistant_message("The oboe.")])
    await Runner.run(agent, "What do I play?", session=session, run_config=config)
    assert [one.get("type", "message") for one in model.calls[-1].input][:6] == kinds


async def test_recall_stands_in_the_instructions_and_in_no_item(
    memory: SemanticMemory, session: SemanticMemorySession
) -> None:
    memory.add("Maya plays the oboe", user_id="maya", category="personal")
    memory.add("Kim plays the drums", user_id="kim", category="personal")
    model = ScriptedModel([[assistant_message("The oboe.")], [assistant_message("?")]])
    agent = Agent(name="a", model=model, instructions="Be brief.")
    config = RunConfig(
        call_model_input_filter=recall(memory, user_id="maya", budget=300), tracing_disabled=True
    )
    await Runner.run(agent, "What does Maya play?", session=session, run_config=config)
    told = model.calls[0].system_instructions or ""
    assert told.startswith("Be brief.\n\n<memory>")
    assert "oboe" in told
    assert "drums" not in told
    assert "<memory>" not in str(await session.get_items())
    await Runner.run(Agent(name="b", model=model), [user(" ")], run_config=config)
    assert model.calls[1].system_instructions is None


async def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    await openai_agents_session.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "The user is allergic to peanuts." in printed
    assert "items: 2" in printed
