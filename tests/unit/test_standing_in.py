"""A model that refuses for days: rules stand in, and it reads again what they read."""

import contextlib

import pytest

from semantic_memory import Category
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import ExtractionFellBack
from semantic_memory.settings import ExtractionSettings, IngestSettings, Settings
from tests.conftest import eventually, say
from tests.support.chat_models import endpoint
from tests.support.inside import inside
from tests.support.openai_server import Reply, answer, completion, fact, failure, serve, shown

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
MODEL, RULES = "openai:gpt-4o-mini/v2", "offline-10"
BOAT, CELLO = "I own a boat.", "I play the cello."


def heard(request) -> Reply:
    """Reply with a fact for each message, and with a word to whoever asks whether it is there."""
    if request["messages"][1]["content"][0] != "{":
        return completion("Yes.")
    messages = shown(request)["messages"]
    return answer(*(fact(f"Heard: {m['text']}", m["n"]) for m in messages))(request)


@pytest.fixture
def server():
    with serve() as server:
        server.script = [failure(401)]
        yield server


@pytest.fixture
def open_with(open_memory, server):
    def open_it(hours: float = 24.0, background: bool = False):
        return open_memory(
            settings=Settings(
                llm=endpoint(server.url, max_retries=0, breaker_seconds=0.01),
                extraction=ExtractionSettings(llm="test", stand_in_hours=hours),
                ingest=IngestSettings(
                    background=background, quiet_seconds=0.05, retry_seconds=0.05
                ),
            )
        )

    return open_it


def flush(memory) -> None:
    with contextlib.suppress(ProviderError):
        memory.flush()


def facts(memory, **filters) -> dict[str, str]:
    categories = frozenset(Category) - {Category.CONVERSATION}
    found = memory.list(**U, filters={"categories": categories, **filters})
    return {item.content: item.source.extractor for item in found}


REFUSALS = {
    "wrong key": failure(401),
    "no such model": failure(404, "The model does not exist"),
    "spent quota": failure(429, "You exceeded your quota", code="insufficient_quota"),
    "no credit": failure(402),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_after_a_day_of_refusals_rules_extract_and_the_model_reads_it_again(
    open_with, server, clock, events, refusal
):
    server.script = [refusal]
    memory = open_with()
    memory.observe(say(BOAT), **S)
    flush(memory)
    clock.advance(hours=23)
    flush(memory)
    assert facts(memory) == {}
    clock.advance(hours=2)
    memory.flush()
    assert facts(memory) == {"The user owns a boat": RULES}
    memory.observe(say(CELLO, start=2), **S)
    memory.flush()
    assert facts(memory) == {"The user owns a boat": RULES, "The user plays the cello": RULES}
    assert {e.reason for e in events if isinstance(e, ExtractionFellBack)} == {"unavailable"}

    server.script = [heard]
    memory.observe(say("I like tea.", start=3), **S)
    memory.flush()
    assert facts(memory) == {f"Heard: {text}": MODEL for text in (BOAT, CELLO, "I like tea.")}
    archived = facts(memory, statuses=["archived"])
    assert archived == {"The user owns a boat": RULES, "The user plays the cello": RULES}
    asked = len(server.requests)
    memory.flush()
    assert len(server.requests) == asked


def test_the_model_is_not_shown_what_the_rules_found_in_the_same_messages(open_with, server, clock):
    memory = open_with(hours=0)
    memory.add("The user likes tea with a boat.", **U)
    memory.observe(say(BOAT), **S)
    memory.flush()
    server.script = [heard]
    memory.observe(say(CELLO, start=2), **S)
    memory.flush()
    known = [item["fact"] for item in shown(server.requests[-1])["known"]]
    assert "The user owns a boat" not in known
    assert "The user likes tea with a boat." in known


def test_what_the_model_finds_too_or_a_person_edited_stays(open_with, server):
    memory = open_with(hours=0)
    memory.observe(say(BOAT, CELLO, "I have a cat."), **S)
    memory.flush()
    kept = {item.content: item.id for item in memory.list(**U)}
    memory.update(kept["The user plays the cello"], content="The user plays the cello badly.")
    server.script = [lambda request: answer(fact("The user owns a boat", 1))]
    memory.observe(say("Bye.", start=4), **S)
    memory.flush()
    assert set(facts(memory)) == {"The user owns a boat", "The user plays the cello badly."}


def test_another_process_goes_on_with_it(open_with, server, clock):
    memory = open_with()
    memory.observe(say(BOAT), **S)
    flush(memory)
    memory.close()
    clock.advance(days=2)
    memory = open_with()
    memory.flush()
    assert facts(memory) == {"The user owns a boat": RULES}
    memory.close()
    server.script = [heard]
    memory = open_with()
    memory.observe(say(CELLO), user_id="u1", session_id="s2")
    memory.flush()
    memory.flush()
    assert facts(memory) == {f"Heard: {text}": MODEL for text in (BOAT, CELLO)}


def test_the_model_is_asked_from_time_to_time_whether_it_is_back(open_with, server):
    memory = open_with(hours=0)
    memory.observe(say(BOAT), **S)
    memory.flush()
    memory.close()
    server.script = [heard]
    memory = open_with(hours=0, background=True)
    assert eventually(lambda: facts(memory) == {f"Heard: {BOAT}": MODEL})


def test_a_session_that_was_forgotten_is_not_read_again(open_with, server):
    memory = open_with(hours=0)
    memory.observe(say(BOAT), **S)
    memory.flush()
    memory.forget(**S)
    server.script = [heard]
    memory.observe(say(CELLO), user_id="u1", session_id="s2")
    memory.flush()
    assert facts(memory) == {f"Heard: {CELLO}": MODEL}
    assert set(inside(memory).ledger.metas("stand-in ").values()) == {""}


def test_a_failure_that_may_pass_is_waited_for_without_an_end(open_with, server, clock):
    server.script = [failure(503)]
    memory = open_with(hours=1)
    memory.observe(say(BOAT), **S)
    for _ in range(3):
        flush(memory)
        clock.advance(days=1)
    assert facts(memory) == {}
