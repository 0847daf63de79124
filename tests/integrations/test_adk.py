"""The memory service of Google's ADK: its contract, and an agent by ADK's runner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra adk")

from google.adk.events import Event
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from examples import adk_agent
from semantic_memory import InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.adk import SemanticMemoryService
from tests.conftest import NOW
from tests.service.conftest import served

pytestmark = pytest.mark.anyio

MAYA: Any = {"app_name": "kitchen", "user_id": "maya"}
OWNER = SemanticMemoryService.owner("kitchen", "maya")


@pytest.fixture
def service(memory: SemanticMemory) -> SemanticMemoryService:
    return SemanticMemoryService(memory)


def content(*parts: types.Part | str) -> types.Content:
    found = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return types.Content(role="user", parts=found)


def event(number: int, author: str, *parts: types.Part | str, **given: Any) -> Event:
    at = NOW.timestamp() - 100 + number
    return Event(id=f"e{number}", author=author, content=content(*parts), timestamp=at, **given)


CALL = types.Part(function_call=types.FunctionCall(name="look", args={"at": "I love tofu"}))
RESULT = types.Part(
    function_response=types.FunctionResponse(name="look", response={"found": "I love sushi"})
)
IMAGE = types.Part(inline_data=types.Blob(data=b"\x89PNG", mime_type="image/png"))
EVENTS = [
    event(0, "user", "I live in Lisbon.", IMAGE, "I play the oboe."),
    event(1, "cook", types.Part(text="I am thinking of Porto", thought=True), "Nice.", CALL),
    event(2, "user", RESULT),
    event(3, "cook", "A part", partial=True),
    event(4, "cook", "A part and the whole."),
    Event(id="e5", author="cook"),
    event(6, "user", " "),
]


def session(session_id: str, *events: Event, **owner: str) -> Session:
    return Session(id=session_id, events=[*events], **{**MAYA, **owner})


def said(memory: SemanticMemory, session_id: str) -> list[tuple[str, str]]:
    messages = memory.sessions.messages(user_id=OWNER, session_id=session_id)
    return [(message.speaker, message.content) for message in messages]


async def found(service: BaseMemoryService, query: str, **owner: str) -> list[str]:
    response = await service.search_memory(query=query, **{**MAYA, **owner})
    return [entry.content.parts[0].text or "" for entry in response.memories]


async def test_the_texts_of_a_session_are_observed_once(
    memory: SemanticMemory, service: SemanticMemoryService
) -> None:
    assert isinstance(service, BaseMemoryService)
    for until in (2, 7, 7):
        await service.add_session_to_memory(session("s", *EVENTS[:until]))
    assert said(memory, "s") == [
        ("user", "I live in Lisbon.\nI play the oboe."),
        ("cook", "Nice."),
        ("cook", "A part and the whole."),
    ]
    times = [one.created_at for one in memory.sessions.messages(user_id=OWNER, session_id="s")]
    assert [int(NOW.timestamp() - at.timestamp()) for at in times if at] == [100, 99, 96]
    memory.flush()
    facts = [one.content for one in memory.list(user_id=OWNER) if one.category == "personal"]
    assert sorted(facts) == ["The user lives in Lisbon.", "The user plays the oboe."]


async def test_events_are_a_delta_with_or_without_a_session(
    memory: SemanticMemory, service: SemanticMemoryService
) -> None:
    await service.add_events_to_memory(events=EVENTS[:1], session_id="a b/ü", **MAYA)
    await service.add_events_to_memory(
        events=EVENTS[4:], session_id="a b/ü", custom_metadata={"ttl": object()}, **MAYA
    )
    await service.add_events_to_memory(events=EVENTS[1:2], **MAYA)
    await service.add_events_to_memory(events=[], **MAYA)
    unnamed = [event(8, "user", "One."), event(9, "user", "Two.")]
    for one in unnamed:
        one.id = ""
    for _ in range(2):
        await service.add_events_to_memory(events=unnamed, session_id="unnamed", **MAYA)
    memory.flush()
    counts = {one.session_id: one.messages for one in memory.sessions.list(user_id=OWNER)}
    assert counts.pop("unnamed") == 2
    assert counts.pop("__unknown_session_id__") == 1
    assert [*counts.values()] == [2]


async def test_a_search_returns_entries_of_the_user_of_the_app(
    memory: SemanticMemory, service: SemanticMemoryService
) -> None:
    await service.add_session_to_memory(session("s", *EVENTS))
    await service.add_session_to_memory(
        session("s", event(0, "user", "I play the drums."), app_name="garage")
    )
    await service.add_session_to_memory(
        session("s", event(0, "user", "I play the harp."), user_id="kim")
    )
    memory.flush()
    response = await service.search_memory(query="What do I play?", **MAYA)
    best = response.memories[0]
    assert "oboe" in str(best.content)
    assert memory.get(best.id or "").user_id == OWNER
    assert best.timestamp == "2026-05-10T11:58:20+00:00"
    authors = {entry.author for entry in response.memories}
    assert authors <= {"user", "cook", None}
    assert "drums" not in str(response)
    assert "harp" not in str(response)
    assert await found(service, "drums", app_name="garage") == ["I play the drums."]
    assert await found(service, " ") == []
    assert await found(service, "play " * 9_000)
    assert await found(service, "play", user_id="nobody") == []
    few = SemanticMemoryService(AsyncSemanticMemory(memory), max_results=1)
    assert len(await found(few, "oboe")) == 1
    strict = SemanticMemoryService(memory, min_score=1.0)
    assert await found(strict, "bicycle") == []


async def test_what_is_added_is_found_at_once_as_in_adks_own_service(
    service: SemanticMemoryService,
) -> None:
    for one in (service, InMemoryMemoryService()):
        for number in range(20):
            text = f"I play instrument{number} daily."
            await one.add_session_to_memory(session(f"s{number}", event(number, "user", text)))
            assert (await found(one, f"instrument{number}"))[0] == text


OWNERS = [
    ("a", "b"),
    ("a/b", ""),
    ("", "a/b"),
    ("a%2Fb", "c"),
    ("a/b", "c"),
    ("a", "b/c"),
    ("a b", "ü"),
    ("x" * 200, "y"),
    ("x" * 200, "z"),
]


def test_users_of_apps_stay_apart() -> None:
    assert len({SemanticMemoryService.owner(*one) for one in OWNERS}) == len(OWNERS)


async def test_memories_are_added_as_facts_and_deleted(
    memory: SemanticMemory, service: SemanticMemoryService
) -> None:
    entries = [
        MemoryEntry(
            content=content("Plays the oboe"),
            custom_metadata={"page": 3},
            timestamp="2026-01-02T03:04:05Z",
        ),
        MemoryEntry(content=content("Is vegetarian")),
    ]
    await service.add_memory(memories=entries, custom_metadata={"page": 1, "from": "x"}, **MAYA)
    await service.add_memory(memories=[], **MAYA)
    facts = {one.content: one for one in memory.list(user_id=OWNER)}
    oboe = facts["Plays the oboe"]
    assert oboe.metadata == {"page": 3, "from": "x"}
    assert oboe.created_at.isoformat() == "2026-01-02T03:04:05+00:00"
    assert facts["Is vegetarian"].metadata == {"page": 1, "from": "x"}
    (entry,) = (await service.search_memory(query="oboe", **MAYA)).memories[:1]
    assert (entry.id, entry.author, entry.custom_metadata["page"]) == (oboe.id, None, 3)
    wrong = {"app_name": "kitchen", "user_id": "kim"}
    await service.delete_memory(memory_id=oboe.id, **wrong)
    await service.delete_memory(memory_id=None, **MAYA)
    assert memory.get(oboe.id)
    await service.delete_memory(memory_id=oboe.id, **MAYA)
    await service.delete_memory(memory_id=oboe.id, **MAYA)
    assert "Plays the oboe" not in await found(service, "oboe")
    for bad in (
        MemoryEntry(content=content(IMAGE)),
        MemoryEntry(content=content("x"), custom_metadata={"x": object()}),
    ):
        with pytest.raises(InvalidInputError, match="add_many, item 2"):
            await service.add_memory(memories=[entries[0], bad], **MAYA)
    assert len(memory.list(user_id=OWNER)) == 1


async def test_a_deleted_event_does_not_come_back_with_its_session(
    memory: SemanticMemory, service: SemanticMemoryService
) -> None:
    await service.add_session_to_memory(session("s", *EVENTS))
    memory.flush()
    response = await service.search_memory(query="oboe", **MAYA)
    told = [one for one in response.memories if one.author == "user"]
    assert told
    for entry in told:
        await service.delete_memory(memory_id=entry.id, **MAYA)
    await service.add_session_to_memory(session("s", *EVENTS))
    memory.flush()
    assert "oboe" not in str(await found(service, "oboe"))


def test_it_works_over_clients(tmp_path: Any) -> None:
    async def use(memory: Any, name: str) -> None:
        service = SemanticMemoryService(memory)
        await service.add_memory(
            app_name=name, user_id="a b", memories=[MemoryEntry(content=content("Plays the oboe"))]
        )
        await service.add_session_to_memory(session("s", *EVENTS, app_name=name, user_id="a b"))
        response = await service.search_memory(app_name=name, user_id="a b", query="oboe")
        assert "oboe" in str(response.memories[0].content)
        for entry in response.memories:
            await service.delete_memory(app_name=name, user_id="a b", memory_id=entry.id)

    async def use_asynchronous(url: str) -> None:
        async with AsyncClient(url) as client:
            await use(client, "awaited")

    with served(tmp_path / "served") as service:
        with Client(service.url) as client:
            asyncio.run(use(client, "waited"))
        asyncio.run(use_asynchronous(service.url))


async def test_the_example_runs(tmp_path: Any, capsys: Any) -> None:
    await adk_agent.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "<PAST_CONVERSATIONS>" in printed
    assert "user: I am allergic to peanuts." in printed
    assert "agent: No peanuts, as you are allergic." in printed
