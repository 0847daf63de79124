"""Messages as other APIs write them, through every face that takes messages."""

from __future__ import annotations

import asyncio
from typing import Any

from semantic_memory import AsyncSemanticMemory, SemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.entrypoints.rights import Right
from tests.service.conftest import Served

SAID: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "I live in Bergen."},
            {"type": "image_url", "image_url": {"url": "data:"}},
        ],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "map", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "A map"}]},
    {"role": "tool", "content": "Maps of Bergen", "recall": False},
]
KEPT = [
    ("user", "I live in Bergen.\n[image]", True),
    ("tool", "A map", True),
    ("tool", "Maps of Bergen", False),
]


def kept(memory: SemanticMemory, session_id: str) -> list[tuple[str, str, bool]]:
    messages = memory.sessions.messages(user_id="maya", session_id=session_id)
    return [(one.role, one.content, one.recall) for one in messages]


def test_every_face_takes_messages_of_other_apis(service: Served):
    memory, url, token = service.memory, service.url, service.token()
    memory.observe(SAID, user_id="maya", session_id="library")
    with Client(url, api_key=token) as client:
        client.observe(SAID, user_id="maya", session_id="client")

    async def awaited() -> None:
        blocking = AsyncSemanticMemory(memory)
        await blocking.observe(SAID, user_id="maya", session_id="async")
        async with AsyncClient(url, api_key=token) as client:
            await client.observe(SAID, user_id="maya", session_id="async-client")

    asyncio.run(awaited())
    body = {"user_id": "maya", "session_id": "rest", "messages": SAID}
    answer = service.client(service.token()).post("/v1/messages", json=body)
    assert answer.json() == {"accepted": 3, "duplicates": 0, "session_id": "rest"}
    for session_id in ("library", "client", "async", "async-client", "rest"):
        assert kept(memory, session_id) == KEPT, session_id


def test_a_request_of_tool_calls_alone_is_taken(service: Served):
    body = {"user_id": "maya", "session_id": "s", "messages": [SAID[1]]}
    answer = service.client(service.token()).post("/v1/messages", json=body)
    assert (answer.status_code, answer.json()["accepted"]) == (202, 0)


def test_the_service_names_the_place_that_it_cannot_read(service: Served):
    said = [{"role": "user", "content": ["Hi", {"type": "hologram"}]}]
    body = {"user_id": "maya", "session_id": "s", "messages": said}
    answer = service.client(service.token()).post("/v1/messages", json=body)
    assert answer.status_code == 422
    assert "messages.0.content.1" in answer.text


def test_every_face_takes_messages_back(service: Served):
    memory, url, token = service.memory, service.url, service.token()
    said = [{"role": "user", "content": f"I have {number} cats."} for number in range(6)]
    where: dict[str, Any] = {"user_id": "maya", "session_id": "cats"}
    memory.observe(said, **where)
    popped = [memory.sessions.pop(**where)]
    with Client(url, api_key=token) as client:
        popped.append(client.sessions.pop(**where))
        latest = client.sessions.messages(**where, limit=2, newest=True)
        assert [one.content for one in latest] == ["I have 3 cats.", "I have 2 cats."]

    async def awaited() -> None:
        popped.append(await AsyncSemanticMemory(memory).sessions.pop(**where))
        async with AsyncClient(url, api_key=token) as client:
            popped.append(await client.sessions.pop(**where))

    asyncio.run(awaited())
    assert [one.content for one in popped] == [f"I have {number} cats." for number in (5, 4, 3, 2)]
    with service.client(token) as http:
        answer = http.post("/v1/sessions/pop", json=where)
        assert answer.json()["content"] == "I have 1 cats."
        found = http.get("/v1/sessions/messages", params=where | {"limit": 1, "newest": True})
        assert [one["content"] for one in found.json()["items"]] == ["I have 0 cats."]


def test_a_repeated_request_pops_once(service: Served):
    where = {"user_id": "maya", "session_id": "s"}
    service.memory.observe([{"role": "user", "content": text} for text in ("a", "b")], **where)
    with service.client(service.token()) as http:
        headers = {"Idempotency-Key": "k1"}
        answers = [http.post("/v1/sessions/pop", json=where, headers=headers) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert kept(service.memory, "s") == [("user", "a", True)]


def test_pop_needs_the_right_to_write_and_shows_texts_to_readers_alone(service: Served):
    where = {"user_id": "maya", "session_id": "s"}
    service.memory.observe([{"role": "user", "content": "Hi", "id": "m1"}], **where)
    with service.client(service.token(rights=[Right.READ])) as http:
        assert http.post("/v1/sessions/pop", json=where).status_code == 403
    with service.client(service.token(users=["noor"])) as http:
        assert http.post("/v1/sessions/pop", json=where).status_code in (403, 404)
    with service.client(service.token(rights=[Right.WRITE])) as http:
        assert http.post("/v1/sessions/pop", json=where).json() == {"id": "m1"}
        assert http.post("/v1/sessions/pop", json=where).status_code == 404


LINES = [
    {"id": "1", "role": "user", "content": "I have a cat.", "session_id": "monday"},
    {"id": "2", "role": "user", "content": "I have a dog.", "session_id": "tuesday"},
]


def test_every_face_observes_several_sessions_at_once(service: Served):
    memory, token = service.memory, service.token()
    memory.observe(LINES, user_id="library")
    with Client(service.url, api_key=token) as client:
        assert client.observe(LINES, user_id="client").session_id is None
    answer = service.client(token).post("/v1/messages", json={"user_id": "rest", "messages": LINES})
    assert answer.json() == {"accepted": 2, "duplicates": 0, "session_id": None}
    for user_id in ("library", "client", "rest"):
        for line in LINES:
            (said,) = memory.sessions.messages(user_id=user_id, session_id=line["session_id"])
            assert said.content == line["content"]


def test_the_service_names_a_message_without_a_session(service: Served):
    said = [{"role": "user", "content": "Hi"}]
    body = {"user_id": "maya", "messages": said}
    answer = service.client(service.token()).post("/v1/messages", json=body)
    assert answer.status_code == 422
    assert "messages.0 names no session: give session_id" in answer.json()["detail"]
