"""Recalled memories that come back in a conversation are not stored again."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from semantic_memory import Category, Message
from semantic_memory.client import Client
from tests.service.conftest import Served
from tests.support.mcp import text_of

TURNS = 50
U: dict[str, Any] = {"user_id": "maya"}
KNOWN = (
    "My sister lives in Bergen.",
    "I moved to Berlin in March.",
    "I prefer tea to coffee.",
    "I work as a nurse.",
    "I play the cello in an orchestra.",
)
QUESTIONS = ("Who lives in Bergen?", "What should I drink?", "What is my job?", "My hobbies?")


def held(memory) -> tuple[dict[str, int], int]:
    """Return the number of corroborations of every fact, and the length of the longest memory."""
    everything = memory.list(**U, limit=None)
    facts = {
        fact.content: len(fact.corroborations)
        for fact in everything
        if fact.category is not Category.CONVERSATION
    }
    return facts, max(len(fact.content) for fact in everything)


def begin(memory) -> tuple[dict[str, int], int]:
    said = [Message(role="user", content=text) for text in KNOWN]
    memory.observe(said, **U, session_id="first")
    memory.flush()
    before = held(memory)
    assert len(before[0]) >= len(KNOWN)
    return before


def library(served: Served):
    for turn in range(TURNS):
        question = QUESTIONS[turn % len(QUESTIONS)]
        block = served.memory.context(question, **U).text
        yield [{"role": "user", "content": f"{block}\n\n{question}"}, *_answer(turn)]


def rest(served: Served):
    with Client(served.url) as client:
        for turn in range(TURNS):
            question = QUESTIONS[turn % len(QUESTIONS)]
            block = client.context(question, **U).text
            yield [
                {"role": "system", "content": f"Be kind.\n\n{block}\n\nBe brief."},
                {"role": "user", "content": question},
                *_answer(turn),
            ]


def _answer(turn: int) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": f"Here is answer {turn}."}]


@pytest.mark.parametrize("talk", [library, rest])
def test_recalled_blocks_pasted_back_for_fifty_turns_add_no_fact(service, talk):
    before = begin(service.memory)
    for said in talk(service):
        messages = [Message(**message) for message in said]
        if talk is rest:
            with Client(service.url) as client:
                client.observe(messages, **U, session_id="loop")
        else:
            service.memory.observe(messages, **U, session_id="loop")
        service.memory.flush()
    assert held(service.memory) == before


def test_an_agent_that_reads_and_writes_through_mcp_adds_what_it_wrote_and_no_more(service):
    begin(service.memory)

    async def talk() -> None:
        async with httpx2.AsyncClient(headers={"X-Memory-User": U["user_id"]}) as http:
            transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
            async with McpClient(transport) as client:
                for turn in range(TURNS):
                    await one_turn(client, turn)

    async def one_turn(client: McpClient, turn: int) -> None:
        question = QUESTIONS[turn % len(QUESTIONS)]
        got = await client.call_tool("recall", {"query": question, "as_context": True})
        said: list[dict[str, Any]] = [
            {"role": "user", "content": f"{question} By the way, I like opera."},
            {"role": "tool", "content": text_of(got.content[0])},
        ]
        fact = {"content": "Likes opera", "category": "preference"}
        await client.call_tool("remember", fact)
        said.append({"role": "assistant", "content": "I noted that.", "wrote_memory": True})
        arguments = {"session_id": "loop", "messages": said}
        taken = await client.call_tool("observe", arguments)
        assert not taken.is_error, json.dumps(text_of(taken.content[0]))

    before, longest = held(service.memory)
    anyio.run(talk)
    service.memory.flush()
    after, longest_now = held(service.memory)
    assert set(after) == {*before, "Likes opera"}
    assert longest_now <= longest + 60  # no block in what was kept word for word


def test_a_session_marks_the_turns_in_which_its_agent_wrote(service):
    before, _ = begin(service.memory)
    call = {
        "id": "call-1",
        "type": "function",
        "function": {"name": "mcp__memory__add_memory", "arguments": '{"content": "Likes opera"}'},
    }
    for _ in range(5):
        with service.memory.sessions.open(**U, session_id="loop") as session:
            session.push(
                [
                    {"role": "user", "content": "Remember that I like opera."},
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "call-1", "content": "ok"},
                    {"role": "assistant", "content": "Done. You like opera."},
                ]
            )
    assert held(service.memory)[0] == before
