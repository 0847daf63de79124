"""Extraction by batch, through the whole product and the real client."""

import threading

import pytest

from semantic_memory import Category
from semantic_memory.domain.errors import (
    ConcurrentUpdateError,
    ConfigurationError,
    ProviderError,
    StoreClosedError,
)
from semantic_memory.domain.events import ExtractionBatched, ExtractionFellBack
from semantic_memory.settings import ExtractionSettings, IngestSettings, Settings
from tests.conftest import eventually, say
from tests.support.chat_models import endpoint
from tests.support.inside import inside
from tests.support.openai_server import answer, fact, failure, serve, shown

U = {"user_id": "u1"}
MODEL, RULES = "openai:gpt-4o-mini/v2", "offline-10"


def heard(request):
    messages = shown(request)["messages"]
    return answer(*(fact(f"Heard: {m['text']}", m["n"]) for m in messages))


@pytest.fixture
def server():
    with serve() as server:
        server.script = [heard]
        yield server


@pytest.fixture
def open_with(open_memory, server):
    def open_it(batch: bool = True, **ingest):
        return open_memory(
            settings=Settings(
                extraction=ExtractionSettings(llm="test", batch=batch, batch_poll_seconds=0.02),
                llm=endpoint(server.url, max_retries=0),
                ingest=IngestSettings(**{"most_messages": 1, "retry_seconds": 0.02, **ingest}),
            )
        )

    return open_it


def facts(memory) -> dict[str, str]:
    categories = frozenset(Category) - {Category.CONVERSATION}
    found = memory.list(**U, filters={"categories": categories}, limit=None)
    return {item.content: item.source.extractor for item in found}


def talk(memory, sessions: int = 3, messages: int = 2, first: int = 1) -> set[str]:
    said: set[str] = set()
    for number in range(sessions):
        texts = [f"I own item {number}-{place}" for place in range(first, first + messages)]
        memory.observe(say(*texts, start=first), **U, session_id=f"s{number}")
        said.update(f"Heard: {text}" for text in texts)
    return said


def close_while_waiting(memory, server) -> None:
    """Submit a batch, and close the store while it is waiting."""
    errors = []

    def flush() -> None:
        try:
            memory.flush()
        except StoreClosedError as error:
            errors.append(error)

    waiting = threading.Thread(target=flush)
    waiting.start()
    assert eventually(lambda: len(server.batches) == 1)
    memory.close()
    waiting.join(timeout=120)
    assert len(errors) == 1


def statuses(events) -> list[tuple[str, int]]:
    return [(e.status, e.stretches) for e in events if isinstance(e, ExtractionBatched)]


def test_everything_is_read_in_one_batch_and_once(open_with, server, events):
    memory = open_with()
    said = talk(memory)
    told = []
    memory.flush(lambda *step: told.append(step))
    assert facts(memory) == dict.fromkeys(said, MODEL)
    assert len(server.batches) == 1
    assert statuses(events) == [("submitted", 3), ("taken", 3)]
    assert ("waiting for the batch", 0, 3) in told
    memory.flush()
    assert (len(server.batches), len(server.requests)) == (1, 3)
    server.batch_status = ["in_progress", "completed"]
    said |= talk(memory, sessions=1, first=3)
    memory.flush()
    assert set(facts(memory)) == said
    assert server.texts[3:] == [["I own item 0-3", "I own item 0-4"]]


def test_nothing_is_asked_for_outside_the_batch(open_with, server):
    memory = open_with(quiet_seconds=0)
    talk(memory)
    assert eventually(lambda: memory.admin.stats().unembedded == 0)
    assert (server.requests, server.batches) == ([], {})


def test_a_long_session_is_read_in_several_stretches_in_order(open_with, server):
    memory = open_with()
    said = talk(memory, sessions=1, messages=130)
    memory.flush()
    assert sorted(len(texts) for texts in server.texts) == [10, 24, 24, 24, 24, 24]
    assert set(facts(memory)) == said


def test_an_interrupted_wait_goes_on_without_submitting_again(open_with, server):
    server.batch_status = ["in_progress"]
    memory = open_with()
    said = talk(memory)
    close_while_waiting(memory, server)
    server.batch_status = ["completed"]
    memory = open_with()
    memory.flush()
    assert facts(memory) == dict.fromkeys(said, MODEL)
    assert (len(server.batches), len(server.requests)) == (1, 3)


def test_a_batch_whose_id_was_never_noted_is_found_again(open_with, server, monkeypatch):
    server.batch_status = ["completed"]
    memory = open_with()
    said = talk(memory)
    service = inside(memory)
    write = service.ledger.set_meta

    def cut_off(key: str, value: str) -> None:
        if '"batch_id":"' in value:
            raise KeyboardInterrupt
        write(key, value)

    monkeypatch.setattr(service.ledger, "set_meta", cut_off)
    with pytest.raises(KeyboardInterrupt):
        memory.flush()
    memory.close()
    memory = open_with()
    memory.flush()
    assert set(facts(memory)) == said
    assert len(server.batches) == 1


def test_a_batch_that_another_process_went_on_with_is_left_to_it(open_with, server, monkeypatch):
    memory = open_with()
    talk(memory)
    ledger = inside(memory).ledger
    write, others = ledger.set_meta, '{"token": "another", "places": {}}'

    def overtaken(key: str, value: str) -> None:
        write(key, value)
        if '"batch_id":null' in value:
            write(key, others)

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "set_meta", overtaken)
        with pytest.raises(ConcurrentUpdateError, match="another process went on"):
            memory.flush()
    assert ledger.meta("extraction batch") == others
    memory.flush()
    assert ledger.meta("extraction batch") == ""


def test_a_batch_that_was_never_created_is_submitted_again(open_with, server, events):
    memory = open_with()
    said = talk(memory)
    server.takes_batches = False
    with pytest.raises(ProviderError, match="all messages are kept"):
        memory.flush()
    server.takes_batches = True
    server.batch_status = ["completed"]
    memory.flush()
    assert set(facts(memory)) == said


def test_items_that_failed_are_left_to_the_rules(open_with, server, events):
    server.batch_status = ["completed"]

    def refuses_one(request):
        refused = "item 1-1" in shown(request)["messages"][0]["text"]
        return failure(500) if refused else heard(request)

    server.script = [refuses_one]
    memory = open_with()
    talk(memory, messages=1)
    memory.flush()
    assert facts(memory) == {
        "Heard: I own item 0-1": MODEL,
        "The user owns item 1-1": RULES,
        "Heard: I own item 2-1": MODEL,
    }
    told = [event for event in events if isinstance(event, ExtractionFellBack)]
    assert told == [ExtractionFellBack(MODEL, "rejected", 1)]


def test_a_batch_that_fails_as_a_whole_loses_nothing(open_with, server, events):
    server.batch_status = ["validating", "failed"]
    memory = open_with()
    said = talk(memory)
    with pytest.raises(ProviderError, match=r"the file is too long.*all messages are kept"):
        memory.flush()
    server.batch_status = ["completed"]
    memory.flush()
    assert facts(memory) == dict.fromkeys(said, MODEL)


def test_a_batch_that_the_endpoint_no_longer_knows_is_given_up(open_with, server):
    server.batch_status = ["in_progress", "gone"]
    memory = open_with()
    said = talk(memory)
    with pytest.raises(ProviderError, match="is gone"):
        memory.flush()
    server.batch_status = ["completed"]
    memory.flush()
    assert facts(memory) == dict.fromkeys(said, MODEL)


def test_what_an_expired_batch_did_not_come_to_waits(open_with, server):
    server.batch_status = ["in_progress", "expired"]
    server.batch_untried = 1
    memory = open_with()
    said = talk(memory)
    with pytest.raises(ProviderError, match="ended before all of it was read"):
        memory.flush()
    assert len(facts(memory)) == 4
    server.batch_status = ["completed"]
    memory.flush()
    assert facts(memory) == dict.fromkeys(said, MODEL)
    assert len(server.batches) == 2


def test_a_service_takes_a_batch_that_an_import_left(open_with, server, events):
    server.batch_status = ["in_progress"]
    memory = open_with()
    said = talk(memory)
    close_while_waiting(memory, server)
    memory = open_with(batch=False, quiet_seconds=0.01)
    memory.observe(say("Something else"), **U, session_id="other")
    assert eventually(lambda: "Heard: Something else" in facts(memory))
    memory.flush()
    assert server.texts == [["Something else"]]  # what the batch reads isn't asked for again
    server.batch_status = ["completed"]
    assert eventually(lambda: set(facts(memory)) == {*said, "Heard: Something else"})
    assert len(server.requests) == 4
    memory.observe(say("I own tea", start=3), **U, session_id="s0")
    assert eventually(lambda: "Heard: I own tea" in facts(memory))


def test_what_was_forgotten_meanwhile_is_not_learnt(open_with, server):
    server.batch_status = ["in_progress"]
    memory = open_with()
    talk(memory, sessions=2)

    def forgets(*step) -> None:
        if server.batch_status != ["completed"]:
            memory.forget(**U, session_id="s0")
            server.batch_status = ["completed"]

    memory.flush(forgets)
    assert set(facts(memory)) == {"Heard: I own item 1-1", "Heard: I own item 1-2"}


def test_sessions_with_nothing_to_read_need_no_batch(open_with, server):
    memory = open_with()
    memory.observe(say("You are a bot", role="system"), **U, session_id="s1")
    memory.flush()
    assert server.batches == {}
    assert inside(memory).ledger.cursor("u1", "s1", "extracted").position == 1


def test_without_a_provider_there_is_no_batch(open_memory):
    settings = Settings(extraction=ExtractionSettings(batch=True))
    with pytest.raises(ConfigurationError, match=r"--batch.*needs extraction.llm"):
        open_memory(settings=settings)


def test_a_message_that_was_forgotten_meanwhile_is_sent_no_more(open_with, server):
    server.batch_status = ["in_progress"]
    memory = open_with()
    talk(memory, sessions=1)

    def deletes(*step) -> None:
        if step[0] == "waiting for the batch" and server.batch_status != ["completed"]:
            for told in memory.list(**U):
                if told.content == "I own item 0-1":
                    memory.delete(told.id)
            server.batch_status = ["completed"]

    memory.flush(deletes)
    assert set(facts(memory)) == {"Heard: I own item 0-2"}
    assert server.texts == [["I own item 0-1", "I own item 0-2"], ["I own item 0-2"]]
