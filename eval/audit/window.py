"""Checks of the context window (rows C)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from eval.audit.checks import check, equal, expect, refused
from eval.audit.site import Site, proposing, texts
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import PromptTooLongError, ProviderError
from semantic_memory.session.session import Session

RESERVE = 13_000
RESULT_CHARACTERS = 10_000
LAST = 10
PROMPT = "You are a careful planner."


def opened(site: Site, **options: Any) -> Session:
    """Open a session of a new user, in a store without extraction unless one is given."""
    memory = options.pop("memory", None) or site.open(extractor=proposing())
    given = {"model": "gpt-4o", "system_prompt": PROMPT, "memory_directories": (), **options}
    session: Session = memory.sessions.open(user_id="maya", session_id="s", **given)
    return session


def call(number: int) -> dict[str, Any]:
    """Return a tool call in OpenAI's form."""
    function = {"name": "look", "arguments": json.dumps({"n": number})}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number: int, text: str = "done") -> dict[str, Any]:
    """Return the result of a tool call in OpenAI's form."""
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def calls_of(messages: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the ids of calls and of results, in OpenAI's form and in Anthropic's."""
    made, answered = [], []
    for message in messages:
        made += [one["id"] for one in message.get("tool_calls") or ()]
        if message["role"] == "tool":
            answered.append(message["tool_call_id"])
        blocks = message["content"] if isinstance(message["content"], list) else []
        made += [one["id"] for one in blocks if one.get("type") == "tool_use"]
        answered += [one["tool_use_id"] for one in blocks if one.get("type") == "tool_result"]
    return made, answered


def talk(session: Session, turns: Sequence[int], words: int = 60) -> None:
    """Push turns of a user and an assistant."""
    for turn in turns:
        session.push(user=f"Question {turn} " + "on tiles " * words, assistant=f"Answer {turn}.")


@check("C1", "OpenAI: the system prompt stays, and no tool call is parted from its result")
def openai_pairs(site: Site) -> object:
    session = opened(site, window=4_000)
    kept = []
    for turn in range(30):
        session.push([{"role": "user", "content": f"Look {turn} " + "at it " * 50}])
        session.push([call(turn), result(turn, "seen " * 80)])
        payload = session.payload()
        made, answered = calls_of(payload)
        equal(made, answered)
        expect(PROMPT in str(payload[0]["content"]) and payload[0]["role"] == "system", payload[0])
        kept.append(len(made))
    expect(kept[-1] < 30, "nothing left the window")
    return f"{kept[-1]} of 30 calls in the window, each with its result"


@check("C1", "Anthropic: calls, results and the thinking before them stay together")
def anthropic_pairs(site: Site) -> object:
    session = opened(site, model="claude-sonnet-4", window=4_000)
    for turn in range(30):
        session.push({"role": "user", "content": f"Look {turn} " + "at it " * 50})
        session.push(
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": f"Hm {turn}", "signature": "s"},
                        {"type": "tool_use", "id": f"c{turn}", "name": "look", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": f"c{turn}", "content": "seen " * 80}
                    ],
                },
            ]
        )
        payload = session.payload()
        made, answered = calls_of(payload)
        equal(made, answered)
        for message in payload:
            kinds = [one["type"] for one in message["content"] if isinstance(one, dict)]
            if "tool_use" in kinds:
                expect(kinds[0] == "thinking", f"a call without its thinking: {kinds}")
    expect(len(made) < 30 and session.payload().system.startswith(PROMPT), "nothing left")
    return f"{len(made)} of 30 calls in the window, each with thinking and result"


@check("C2", "an older tool result is cut to 10,000 characters, the last 10 messages stay whole")
def long_results(site: Site) -> object:
    session = opened(site, window=36_000)
    session.push([{"role": "user", "content": "Look"}, call(1), result(1, "long " * 15_000)])
    talk(session, range(12), words=100)
    session.push([{"role": "user", "content": "Again"}, call(2), result(2, "late " * 9_000)])
    payload = session.payload()
    sizes = {one["tool_call_id"]: len(one["content"]) for one in payload if one["role"] == "tool"}
    expect(9_000 < sizes.get("c1", 0) <= RESULT_CHARACTERS + 100, sizes)  # a note says it is cut
    equal(sizes.get("c2"), 45_000)
    return f"characters of the results: {sizes}"


@check("C2", "the last 10 messages stay whole when the window is compacted")
def last_messages(site: Site) -> object:
    session = opened(site, window=6_000)
    talk(session, range(40))
    payload = session.payload("And now?")
    said = [f"Question {n} " + "on tiles " * 60 for n in range(40)]
    contents = " ".join(str(one["content"]) for one in payload)
    whole = [n for n in range(40) if said[n].strip() in contents]
    expect(whole[-LAST // 2 :] == list(range(35, 40)) and 0 not in whole, whole)
    return f"questions in the window: {whole}"


@check("C2", "a prompt is built shorter only for an error that says it is too long")
def reactive(site: Site) -> object:
    session = opened(site, window=16_000)
    talk(session, range(30))
    before = session.payload("And now?").tokens
    refused(lambda: session.shorten(RuntimeError("rate limit")), RuntimeError, "rate limit")
    after = session.shorten(RuntimeError("context_length_exceeded")).tokens
    expect(after < before, (before, after))
    return f"{before} tokens, then {after}"


@check("C3", "a prompt leaves 13,000 tokens for the response, and tools are counted")
def budget(site: Site) -> object:
    window = 60_000
    tool = {"type": "function", "function": {"name": "look", "description": "Look " * 500}}
    session, with_tool = opened(site, window=window), opened(site, window=window, tools=[tool])
    for one in (session, with_tool):
        talk(one, range(1), words=10)
    plain, counted = session.payload("x").tokens, with_tool.payload("x").tokens
    expect(counted - plain >= 500, f"the tool counts {counted - plain}")
    most = session.payload("tile " * 46_000).tokens
    expect(most <= window - RESERVE, most)
    refused(lambda: session.payload("tile " * 47_000), PromptTooLongError, "47,000")
    return f"the tool counts {counted - plain}; a prompt of {most} passes, one above 47,000 doesn't"


@check("C3", "the window is compacted once 85 % of what the response leaves is used")
def trigger(site: Site) -> object:
    window = 60_000
    effective = window - RESERVE
    session = opened(site, window=window)
    sizes = []
    for turn in range(70):
        session.push(user=f"{turn} " + "tile " * 800, assistant="Noted.")
        sizes.append(session.payload("And?").tokens)
    highest = max(sizes)
    falls = [(a, b) for a, b in pairwise(sizes) if b < a - 2_000]
    expect(falls and 0.75 * effective < highest <= 0.85 * effective, (highest, falls))
    return f"compacted at {falls[0][0]} tokens to {falls[0][1]}, of {effective}"


@check("C4", "images and documents are placeholders in what is kept, not their bytes")
def media(site: Site) -> object:
    memory = site.open(extractor=proposing())
    session = opened(site, memory=memory)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAABBBB"}}
    file = {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf,x"}}
    session.push({"role": "user", "content": [{"type": "text", "text": "See"}, picture, file]})
    memory.flush()
    (told,) = memory.list(user_id="maya")
    expect("[image]" in told.content and "[document" in told.content, told.content)
    expect("AAAABBBB" not in told.content, told.content)
    return told.content


@check("C5", "three failures in a row stop requests to an endpoint, a success resets them")
def breaker(site: Site) -> object:
    endpoint = site.endpoint()
    memory = site.open(settings=endpoint.settings)

    def turn(number: int) -> None:
        with suppress(ProviderError):
            session = f"s{number}"
            memory.observe(
                [{"role": "user", "content": "I am a nurse"}], user_id="maya", session_id=session
            )
            memory.flush()

    for number in range(8):
        turn(number)
    equal(len(endpoint.requests), 3)
    return "3 requests in eight turns"


@check("C6", "what slides out of the window was extracted before")
def promoted_first(site: Site) -> object:
    extractor = proposing(("The bathroom gets terracotta tiles", 0.9))
    memory = site.open(extractor=extractor)
    session = opened(site, memory=memory, window=4_000)
    session.push(user="We decided on terracotta tiles", assistant="Noted.")
    equal(len(extractor.calls), 0)
    talk(session, range(30))
    payload = session.payload("And now?")
    expect("We decided on terracotta" not in str(payload[1]["content"]), "it is still there")
    expect(extractor.calls, "never extracted")
    equal(texts(memory, "maya"), ["The bathroom gets terracotta tiles"])
    return f"{len(extractor.calls)} extractions by the payload itself"


@check("C7", "memory files are included, cut at 200 lines and 25,000 bytes with a warning")
def memory_files(site: Site) -> object:
    place = site.directory()
    place.mkdir()
    (place / "AGENT.md").write_text("Always answer in metric units.\n", "utf-8")
    (place / "MEMORY.md").write_text("\n".join(f"line {n}" for n in range(500)), "utf-8")
    system = str(opened(site, memory_directories=[place]).payload("x")[0]["content"])
    files = system.removeprefix(PROMPT).strip()
    expect("metric units" in files and "WARNING: MEMORY.md is cut" in files, files[-300:])
    lines = len(files.splitlines())
    expect(190 <= lines <= 200, lines)
    (place / "MEMORY.md").write_text("\n".join("x" * 1_000 for _ in range(100)), "utf-8")
    files = str(opened(site, memory_directories=[place]).payload("x")[0]["content"])
    size = len(files.removeprefix(PROMPT).strip().encode())
    expect(20_000 < size <= 25_000, size)
    return f"{lines} lines; {size} bytes"


@check("C8", "after a restart the window is the same, from the log")
def window_after_restart(site: Site) -> object:
    place = site.directory()
    memory = site.open(place, extractor=proposing())
    session = opened(site, memory=memory, window=5_000)
    talk(session, range(20))
    session.payload("And now?")
    talk(session, range(20, 22))
    before, expected = session.messages, session.payload("And then?")
    memory.close()
    again = opened(site, memory=site.open(place, extractor=proposing()), window=5_000)
    equal(len(again.messages), len(before))
    expect(list(again.payload("And then?")) == list(expected), "another prompt")
    return f"{len(before)} messages, the same prompt of {expected.tokens} tokens"


@check("C3", "the tokens of a prompt and a block are those that tiktoken counts")
def counted(site: Site) -> object:
    user = site.user()
    site.memory.add("The schema is in Postgres 16 — naïve, 見る", user_id=user)
    block = site.memory.context("Where is the schema?", user_id=user)
    equal(block.tokens, TiktokenCounter("o200k_base").count(block.text))
    return f"{block.tokens} tokens"
