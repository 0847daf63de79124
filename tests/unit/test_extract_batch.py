"""The batch API, with the real client over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ingest.extract.openai import OpenAIExtractor
from ingest.extract.openai_batch import OpenAIBatch
from semantic_memory.bootstrap.models import make_client, make_extractor
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import ExtractionFellBack, ModelCalled
from semantic_memory.domain.extraction import Conversation
from semantic_memory.judging.packaged import PackagedSentenceJudge
from semantic_memory.llm.endpoint import Endpoint
from semantic_memory.settings import ExtractionSettings, Settings
from tests.conftest import make_fact, say
from tests.support.chat_models import endpoint, models_of
from tests.support.openai_server import answer, completion, fact, serve, shown

STRETCHES = {
    "first": Conversation(
        say("I moved to Berlin."), known=[make_fact(1, content="Maya lives in Oslo.")]
    ),
    "second": Conversation(say("You are a bot", role="system") + say("I own a boat.", start=2)),
}


@pytest.fixture
def server():
    with serve() as server:
        server.script = [lambda request: answer(fact(f"Heard {texts(request)[0]}", 1))]
        server.batch_status = ["completed"]
        yield server


def texts(request) -> list[str]:
    return [message["text"] for message in shown(request)["messages"]]


@pytest.fixture
def batch(server, events) -> Iterator[OpenAIBatch]:
    settings = Settings(
        extraction=ExtractionSettings(llm="test"),
        llm=endpoint(server.url, max_retries=0),
    )
    with ExitStack() as stack:
        extractor = make_extractor(
            settings,
            PackagedSentenceJudge(),
            events.append,
            models_of(settings, events.append, stack),
        )
        assert isinstance(extractor, OpenAIExtractor)
        assert isinstance(extractor.model, Endpoint)
        yield OpenAIBatch(stack.enter_context(make_client(settings)), extractor, extractor.model)


def read(batch, batch_id) -> dict[str, list[tuple[str, tuple[str, ...], str | None]]]:
    answers = batch.answers(batch.state(batch_id))
    extractions = {name: batch.read(answers.get(name), one) for name, one in STRETCHES.items()}
    return {
        name: [(item.content, item.message_ids, item.extractor) for item in extraction.candidates]
        for name, extraction in extractions.items()
    }


def test_a_batch_is_read_by_the_names_of_its_requests(batch, server, events):
    batch_id = batch.submit(STRETCHES, "token")
    assert read(batch, batch_id) == {
        "first": [("Heard I moved to Berlin.", ("m1",), None)],
        "second": [("Heard I own a boat.", ("m2",), None)],
    }
    assert shown(server.requests[0])["known"][0]["fact"] == "Maya lives in Oslo."
    assert server.requests[0]["response_format"]["type"] == "json_schema"
    costs = [event.cost_usd for event in events if isinstance(event, ModelCalled)]
    assert costs == pytest.approx([(1_000 * 0.15e-6 + 100 * 0.60e-6) / 2] * 2)


def test_a_batch_tells_how_far_it_has_come(batch, server):
    server.batch_status = ["validating", "in_progress", "finalizing", "completed"]
    batch_id = batch.submit(STRETCHES, "token")
    states = [batch.state(batch_id) for _ in range(3)]
    assert [(state.working, state.done, state.total) for state in states] == [
        (True, 0, 2),
        (True, 0, 2),
        (False, 2, 2),
    ]


def test_a_batch_is_found_by_its_token(batch):
    ids = {token: batch.submit(STRETCHES, token) for token in ("one", "two")}
    assert {token: batch.find(token) for token in ids} == ids
    assert batch.find("three") is None


def test_what_a_batch_did_not_serve_is_left_to_the_rules(batch, server, events):
    server.batch_failures = {"first"}
    found = read(batch, batch.submit(STRETCHES, "token"))
    assert found == {
        "first": [("The user moved to Berlin", ("m1",), "offline-10")],
        "second": [("Heard I own a boat.", ("m2",), None)],
    }
    told = [event.reason for event in events if isinstance(event, ExtractionFellBack)]
    assert told == ["rejected"]


def test_an_answer_that_makes_no_sense_leaves_it_to_the_rules(batch, server, events):
    server.script = [completion("Sorry")]
    found = read(batch, batch.submit(STRETCHES, "token"))
    assert found["first"] == [("The user moved to Berlin", ("m1",), "offline-10")]
    told = [event.reason for event in events if isinstance(event, ExtractionFellBack)]
    assert told == ["malformed", "malformed"]


def test_an_expired_batch_brings_what_was_tried(batch, server):
    server.batch_status = ["in_progress", "expired"]
    server.batch_untried = 1
    state = batch.state(batch.submit(STRETCHES, "token"))
    assert (state.working, state.complete) == (False, False)
    assert set(batch.answers(state)) == {"second"}


def test_a_failed_batch_says_why(batch, server):
    server.batch_status = ["validating", "failed"]
    state = batch.state(batch.submit(STRETCHES, "token"))
    assert (state.working, state.error) == (False, "the file is too long")


def test_a_batch_that_the_endpoint_does_not_know_is_named(batch):
    with pytest.raises(ProviderError, match="batch none/such is gone"):
        batch.state("none/such")
