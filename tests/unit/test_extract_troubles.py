"""Failing models: nothing is lost, the cursor is right, no call waits, all is counted.

Through the whole product and the real client, over HTTP, in the background.
"""

import threading

import pytest
from prometheus_client import CollectorRegistry

from semantic_memory import Category
from semantic_memory.entrypoints.metrics import PREFIX, MetricsObserver
from semantic_memory.settings import ExtractionSettings, IngestSettings, Settings
from tests.conftest import eventually, say
from tests.support.chat_models import endpoint
from tests.support.inside import inside
from tests.support.openai_server import (
    Reply,
    answer,
    completion,
    fact,
    failure,
    serve,
    shown,
)

U = {"user_id": "u1"}
MODEL, RULES = "openai:gpt-4o-mini/v2", "offline-10"
SAID = ("I moved to Berlin.", "I own a boat.", "I play the cello.")
BY_MODEL = {"Heard: I moved to Berlin.", "Heard: I own a boat.", "Heard: I play the cello."}
BY_RULES = {"The user moved to Berlin", "The user owns a boat", "The user plays the cello"}


def heard(request) -> Reply:
    """Reply with a fact for each message."""
    messages = shown(request)["messages"]
    return answer(*(fact(f"Heard: {m['text']}", m["n"]) for m in messages))(request)


def lengthy(request) -> Reply:
    """Reply that accepts one message at a time."""
    long = len(shown(request)["messages"]) > 1
    reply = failure(400, "too many tokens", code="context_length_exceeded")
    return reply if long else heard(request)


def bulky(request) -> Reply:
    return failure(413) if len(shown(request)["messages"]) > 1 else heard(request)


def plain(request) -> Reply:
    """Reply that takes no options."""
    return (
        failure(400, "?") if {"temperature", "response_format"} & set(request) else heard(request)
    )


def answering(request) -> Reply:
    """Reply as `heard`, and with a word to a request that shows nothing."""
    return heard(request) if request["messages"][1]["content"][0] == "{" else completion("Yes.")


def picky(request) -> Reply:
    """Reply that rejects whatever has the word cello."""
    return failure(400, "?") if "cello" in request["messages"][1]["content"] else answering(request)


GOOD = heard
CELLO = "Heard: I play the cello."
BY_RULES_OF_CELLO = {"The user plays the cello"}
# What the model does, what is kept of it, which outcomes are counted.
TROUBLES = {
    "good output": ([GOOD], BY_MODEL, {"done": 1}),
    "not JSON": ([completion("Sorry, no.")], BY_RULES, {"done": 1, "fell back": 1}),
    "JSON that breaks off": ([completion('{"facts": [{"st')], BY_RULES, {"fell back": 1}),
    "wrong types": ([completion('{"facts": [{"statement": 7}]}')], BY_RULES, {"fell back": 1}),
    "a refusal": ([completion(None, refusal="no")], BY_RULES, {"fell back": 1}),
    "429, then good": ([failure(429), failure(429), GOOD], BY_MODEL, {"done": 1, "failed": 0}),
    "500, then good": ([failure(500), GOOD], BY_MODEL, {"done": 1, "failed": 0}),
    "a cut stream, then good": (
        [Reply(b"{}" * 500, cut=True), GOOD],
        BY_MODEL,
        {"done": 1, "failed": 0},
    ),
    "a time-out, then good": ([Reply(b"{}", delay=3.0), GOOD], BY_MODEL, {"done": 1, "failed": 0}),
    "429 for longer": ([failure(429)] * 3 + [GOOD], BY_MODEL, {"done": 1, "failed": 1}),
    "500 for longer": ([failure(500)] * 6 + [GOOD], BY_MODEL, {"done": 1, "failed": 2}),
    "too long by code": ([lengthy], BY_MODEL, {"done": 1, "fell back": 0}),
    "too long by status": ([bulky], BY_MODEL, {"done": 1, "fell back": 0}),
    "401, then good": ([failure(401), GOOD], BY_MODEL, {"done": 1, "failed": 1}),
    "404, then good": ([failure(404), GOOD], BY_MODEL, {"done": 1, "failed": 1}),
    "a spent quota, then good": (
        [failure(429, code="insufficient_quota"), GOOD],
        BY_MODEL,
        {"done": 1, "failed": 1},
    ),
    "a redirection, then good": (
        [Reply(b"", 302, {"Location": "/login"}), GOOD],
        BY_MODEL,
        {"done": 1, "failed": 1},
    ),
    "a page, then good": ([Reply(b"<html>"), GOOD], BY_MODEL, {"done": 1, "failed": 1}),
    "an error with status 200, then good": (
        [Reply(b'{"error": {"code": 503, "message": "busy"}}'), GOOD],
        BY_MODEL,
        {"done": 1, "failed": 0},
    ),
    "an answer that trickles, then good": (
        [Reply(b"", endless=b" ", delay=0.02), GOOD],
        BY_MODEL,
        {"done": 1, "failed": 0},
    ),
    "20 MB": ([Reply(b" " * 20_000_000)], BY_RULES, {"done": 1, "fell back": 1}),
    "an answer without an end": (
        [Reply(b"", endless=b"[" * 10_000)],
        BY_RULES,
        {"done": 1, "fell back": 1},
    ),
    "thoughts alone": ([completion("<think>Well,")], BY_RULES, {"fell back": 1}),
    "options refused without a word": ([plain], BY_MODEL, {"done": 1, "failed": 0}),
    "one message rejected": ([picky], {*BY_MODEL - {CELLO}, *BY_RULES_OF_CELLO}, {"done": 1}),
    "cut off at the length": (
        [completion('{"facts": [{"st', finish_reason="length"), GOOD],
        BY_MODEL,
        {"done": 1, "fell back": 0},
    ),
}


@pytest.fixture
def server():
    with serve() as server:
        yield server


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def open_with(open_memory, server, registry):
    def open_it(seconds=30.0, **ingest):
        return open_memory(
            observer=MetricsObserver(registry),
            settings=Settings(
                extraction=ExtractionSettings(llm="test"),
                llm=endpoint(
                    server.url, max_retries=2, timeout_seconds=seconds, breaker_seconds=0.1
                ),
                ingest=IngestSettings(**{"retry_seconds": 0.05, **ingest}),
            ),
        )

    return open_it


def facts(memory) -> dict[str, str]:
    categories = frozenset(Category) - {Category.CONVERSATION}
    found = memory.list(**U, filters={"categories": categories})
    return {item.content: item.source.extractor for item in found}


def counted(registry, name: str, **labels: str) -> float:
    return registry.get_sample_value(f"{PREFIX}{name}_total", labels) or 0.0


@pytest.mark.parametrize(("script", "kept", "outcomes"), TROUBLES.values(), ids=TROUBLES)
def test_nothing_is_lost_whatever_the_model_does(
    open_with, server, registry, script, kept, outcomes
):
    server.script = [*script]
    slow = any(isinstance(step, Reply) and step.delay for step in script)
    memory = open_with(1.5 if slow else 30.0, quiet_seconds=3600, most_messages=3)
    memory.observe(say(*SAID), **U, session_id="s1")
    assert eventually(lambda: set(facts(memory)) == kept)
    by_model = {text for text in kept if text.startswith("Heard")}
    assert {text for text, extractor in facts(memory).items() if extractor == MODEL} == by_model
    for text in SAID:
        assert text in [hit.fact.content for hit in memory.search(text, **U)]
    cursor = inside(memory).ledger.cursor("u1", "s1", "extracted")
    assert (cursor.position, cursor.message_id) == (3, "m3")
    for outcome, number in outcomes.items():
        assert counted(registry, "extractions", outcome=outcome) == number
    asked = len(server.requests)
    memory.flush()
    assert len(server.requests) == asked  # nothing is asked for twice


def test_while_a_model_fails_the_cursor_stays_and_nobody_waits(open_with, server, registry):
    reached, go_on = threading.Event(), threading.Event()

    def stalls(request) -> Reply:
        reached.set()
        go_on.wait(timeout=120)
        return failure(500)

    server.script = [stalls]
    memory = open_with(quiet_seconds=0.05)
    memory.observe(say(*SAID), **U, session_id="s1")
    assert reached.wait(timeout=60)
    try:  # the endpoint answers nothing until go_on: whoever waited for it would stay here
        memory.observe(say("I like tea.", start=4), **U, session_id="s1")
        assert eventually(lambda: bool(memory.search("tea", **U)))
        assert inside(memory).ledger.cursor("u1", "s1", "extracted").position == 0
    finally:
        go_on.set()
    assert eventually(lambda: counted(registry, "breaker_opened") >= 1)
    assert inside(memory).ledger.cursor("u1", "s1", "extracted").position == 0
    server.script = [GOOD]
    assert eventually(lambda: "Heard: I like tea." in facts(memory))
    assert set(facts(memory)) == {*BY_MODEL, "Heard: I like tea."}


# ---------------------------------------------------------------- when it is asked


def test_twenty_messages_in_a_row_make_one_call(open_with, server):
    server.script = [GOOD]
    memory = open_with(quiet_seconds=2.0, most_messages=50)
    for number in range(20):
        memory.observe(say(f"Message {number}", start=number), **U, session_id="s1")
    assert server.requests == []
    assert eventually(lambda: len(facts(memory)) == 20)
    assert [len(texts) for texts in server.texts] == [20]
    memory.flush()
    assert len(server.requests) == 1


def test_twenty_messages_of_two_make_one_call(open_with, server):
    server.script = [GOOD]
    memory = open_with()
    for number in range(1, 20, 2):
        memory.observe(say(f"Message {number}", start=number), **U, session_id="s1")
        reply = say(f"Reply {number}", role="assistant", start=number + 1)
        memory.observe(reply, **U, session_id="s1")
    assert eventually(lambda: len(facts(memory)) >= 19)
    assert [len(texts) for texts in server.texts] in ([19], [20])


def test_what_comes_while_a_model_thinks_waits_for_its_time(open_with, server):
    reached, go_on = threading.Event(), threading.Event()

    def thinks(request) -> Reply:
        reached.set()
        go_on.wait(timeout=120)
        return heard(request)

    server.script = [thinks]
    memory = open_with(quiet_seconds=3600, most_messages=2)
    memory.observe(say("One", "Two"), **U, session_id="s1")
    assert reached.wait(timeout=60)
    memory.observe(say("Three", start=3), **U, session_id="s1")
    go_on.set()
    assert eventually(lambda: len(facts(memory)) == 2)
    assert server.texts == [["One", "Two"]]
    memory.observe(say("Four", start=4), **U, session_id="s1")
    assert eventually(lambda: len(facts(memory)) == 4)
    assert server.texts == [["One", "Two"], ["Three", "Four"]]


def test_the_end_of_a_session_has_it_read_at_once(open_with, server):
    server.script = [GOOD]
    memory = open_with(quiet_seconds=3600, most_wait_seconds=3600)
    with memory.sessions.open(**U, session_id="s1") as session:
        session.push(user="I moved to Berlin.", assistant="Good to know.")
        assert server.requests == []
    assert server.texts == [["I moved to Berlin.", "Good to know."]]


def test_a_session_that_never_goes_quiet_is_read_after_the_longest_wait(open_with, server):
    server.script = [GOOD]
    memory = open_with(quiet_seconds=3600, most_wait_seconds=0.3)
    number = 0

    def chat() -> bool:
        nonlocal number
        number += 1
        memory.observe(say(f"Message {number}", start=number), **U, session_id="s1")
        return len(server.requests) >= 2

    assert eventually(chat)
    memory.flush()
    texts = [text for texts in server.texts for text in texts]
    assert texts == [f"Message {n}" for n in range(1, number + 1)]  # each once, in order


def test_a_session_with_many_messages_is_read_without_waiting(open_with, server):
    server.script = [GOOD]
    memory = open_with(quiet_seconds=3600, most_wait_seconds=3600, most_messages=10)
    for number in range(25):
        memory.observe(say(f"Message {number}", start=number), **U, session_id="s1")
    assert eventually(lambda: len(facts(memory)) >= 20)
    assert 1 <= len(server.requests) <= 3
    memory.flush()
    assert len(facts(memory)) == 25
    assert sum(map(len, server.texts)) == 25


def test_a_turn_is_not_parted(open_with, server):
    server.script = [GOOD]
    memory = open_with(quiet_seconds=3600, most_messages=100)
    wrote = {"memory_write": True}
    said = [
        *say(*(f"Message {n}" for n in range(23))),
        *say("Remember that I like opera", start=50),
        *say("Noted", role="assistant", start=51, metadata=wrote),
        *say("Bye", start=52),
    ]
    memory.observe(said, **U, session_id="s1")
    memory.flush()
    assert [len(texts) for texts in server.texts] == [23, 1]
    assert "Heard: Remember that I like opera" not in facts(memory)
