"""The batch API, with the real client over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ingest.extract.openai_batch import OpenAIBatch, Stretch
from semantic_memory.bootstrap import make_client, make_extractor
from semantic_memory.errors import ProviderError
from semantic_memory.events import ExtractionFellBack, ModelCalled
from semantic_memory.settings import ExtractionSettings, OpenAISettings, Settings
from tests.conftest import make_fact, say
from tests.support.openai_server import answer, completion, fact, serve, shown

STRETCHES = {
    "u1/s1": Stretch(
        say("I moved to Berlin."), known=[make_fact(1, content="Maya lives in Oslo.")]
    ),
    "u1/s2": Stretch(say("You are a bot", role="system") + say("I own a boat.", start=2)),
}


@pytest.fixture
def server():
    with serve() as server:
        server.script = [lambda request: answer(fact(f"Heard {texts(request)[0]}", 1))]
        yield server


def texts(request) -> list[str]:
    return [message["text"] for message in shown(request)["messages"]]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def batch(server, events, waits) -> Iterator[OpenAIBatch]:
    settings = Settings(
        extraction=ExtractionSettings(provider="openai", max_retries=0),
        openai=OpenAISettings(base_url=server.url, api_key="sk-test"),
    )
    with ExitStack() as stack:
        extractor = make_extractor(settings, events.append, stack)
        client = stack.enter_context(make_client(settings))
        yield OpenAIBatch(client, extractor, sleep=waits.append)


def heard(results) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    return {
        name: [(item.content, item.message_ids) for item in extraction.candidates]
        for name, extraction in results.items()
    }


def test_a_batch_is_sent_waited_for_and_read_by_name(batch, server, events, waits):
    server.batch_status = ["validating", "in_progress", "finalizing", "completed"]
    results = batch.collect(batch.submit(STRETCHES), STRETCHES)
    assert heard(results) == {
        "u1/s1": [("Heard I moved to Berlin.", ("m1",))],
        "u1/s2": [("Heard I own a boat.", ("m2",))],
    }
    assert waits == [30.0, 30.0]
    assert shown(server.requests[0])["known"][0]["fact"] == "Maya lives in Oslo."
    assert server.requests[0]["response_format"]["type"] == "json_schema"
    costs = [event.cost_usd for event in events if isinstance(event, ModelCalled)]
    assert costs == pytest.approx([(1_000 * 0.15e-6 + 100 * 0.60e-6) / 2] * 2)


def test_a_batch_is_read_by_a_later_process(batch, server):
    batch_id = batch.submit(STRETCHES)
    server.batch_status = ["completed"]
    assert set(batch.collect(batch_id, STRETCHES)) == set(STRETCHES)


def test_what_a_batch_did_not_serve_is_left_out(batch, server):
    server.batch_failures = {"u1/s1"}
    assert set(batch.collect(batch.submit(STRETCHES), STRETCHES)) == {"u1/s2"}


def test_an_answer_that_makes_no_sense_leaves_it_to_the_rules(batch, server, events):
    server.script = [completion("Sorry")]
    results = batch.collect(batch.submit(STRETCHES), STRETCHES)
    (candidate,) = results["u1/s1"].candidates
    assert candidate.content == "The user moved to Berlin."
    assert candidate.extractor == "offline-1"
    assert [event.reason for event in events if isinstance(event, ExtractionFellBack)] == [
        "malformed",
        "malformed",
    ]


def test_an_expired_batch_serves_nothing(batch, server):
    server.batch_status = ["in_progress", "expired"]
    assert batch.collect(batch.submit(STRETCHES), STRETCHES) == {}


def test_a_failed_batch_says_why(batch, server):
    server.batch_status = ["validating", "failed"]
    with pytest.raises(ProviderError, match="the file is too long"):
        batch.collect(batch.submit(STRETCHES), STRETCHES)


def test_an_endpoint_without_batches_is_named(batch):
    with pytest.raises(ProviderError, match="batch none/such can't be read"):
        batch.collect("none/such", STRETCHES)
