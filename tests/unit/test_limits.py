"""Oversized input is refused with the sizes, or shortened, without loss."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic import ValidationError

from semantic_memory import Candidate, Message
from semantic_memory.domain.errors import InvalidInputError, LogFullError
from semantic_memory.domain.events import FactsExtracted, LogNearlyFull, LogShortened
from semantic_memory.domain.logs import Record
from semantic_memory.domain.values import MAX_CONTENT_BYTES
from semantic_memory.pipeline.sessions import expendable
from semantic_memory.settings import IngestSettings, LogSettings, Settings
from semantic_memory.testing import HashEmbedder, ScriptedExtractor, ScriptedPairJudge
from tests.conftest import NOW, eventually, say
from tests.crash.program import DIMENSION, name
from tests.support.inside import inside

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
LARGEST = "ü" * (MAX_CONTENT_BYTES // 2)
TOO_LARGE = LARGEST + "."
REFUSED = r"is 1,000,001 bytes; the limit is 1,000,000: split it into parts"


def test_the_largest_message_is_taken_and_one_byte_more_is_refused(memory):
    assert memory.observe(say(LARGEST), **S).accepted == 1
    memory.flush()
    assert memory.sessions.messages(**S)[0].content == LARGEST
    with pytest.raises(ValidationError, match=REFUSED):
        say(TOO_LARGE)


def test_the_largest_fact_is_taken_and_one_byte_more_is_refused(memory):
    fact = memory.add(LARGEST, **U)
    with pytest.raises(InvalidInputError, match=REFUSED):
        memory.add(TOO_LARGE, **U)
    with pytest.raises(InvalidInputError, match=REFUSED):
        memory.update(fact.id, content=TOO_LARGE)
    with pytest.raises(InvalidInputError, match=rf"item 2.*{REFUSED}"):
        memory.transfer.add_many([{"content": "Likes tea"}, {"content": TOO_LARGE}], **U)
    assert [fact.content for fact in memory.list(**U)] == [LARGEST]


def test_a_query_that_is_too_large_is_refused(memory):
    for ask in (memory.search, memory.context):
        with pytest.raises(InvalidInputError, match=REFUSED):
            ask(TOO_LARGE, **U)


def test_an_export_with_a_text_that_is_too_large_is_refused_by_its_number(memory):
    memory.observe(say("One"), **S)
    memory.flush()
    records = list(memory.transfer.export(**U))
    records[1]["message"]["content"] = TOO_LARGE
    with pytest.raises(InvalidInputError, match=rf"record 2.*{REFUSED}"):
        memory.transfer.load(records, **U)


def test_a_session_refuses_a_text_that_is_too_large(memory):
    with memory.sessions.open(**S) as session:
        session.push(user=LARGEST, assistant="Long.")
        with pytest.raises(InvalidInputError, match=REFUSED):
            session.push(user=TOO_LARGE, assistant="Too long.")
        assert len(session.messages) == 2


def test_an_import_rejects_the_line_that_is_too_large_and_takes_the_others(tmp_path):
    from ingest.readers import Incoming, Rejected, read

    rows = [{"role": "user", "content": text, "session_id": "s"} for text in (LARGEST, TOO_LARGE)]
    path = tmp_path / "messages.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    taken, rejected = read(path, "auto", "s", lambda *step: None)
    assert isinstance(taken, Incoming)
    assert taken.message.content == LARGEST
    assert isinstance(rejected, Rejected)
    assert "1,000,001 bytes; the limit is 1,000,000" in rejected.reason


IDS = ["a", "A-z_0.9@b:c+d", "x" * 128]
NO_IDS = ["", "x" * 129, "a/b", "a b", "ü", "a\n", "..\\"]
TAGS = ["a", "security.authentication", "c++", "x" * 64]
NO_TAGS = ["", "x" * 65, "a b", "a..b", ".a", "a/b"]


@pytest.mark.parametrize("identifier", IDS)
def test_ids_may_be_long_and_hold_marks(memory, identifier):
    memory.observe(
        [Message(id=identifier, role="user", content="Hi")],
        user_id=identifier,
        session_id=identifier,
    )
    memory.flush()
    assert memory.sessions.messages(user_id=identifier, session_id=identifier)[0].id == identifier


@pytest.mark.parametrize("identifier", NO_IDS)
def test_other_ids_are_refused(memory, identifier):
    for place in ({"user_id": identifier, "session_id": "s"}, {**U, "session_id": identifier}):
        with pytest.raises(InvalidInputError, match=r"_id must (have|match)"):
            memory.observe(say("Hi"), **place)
    with pytest.raises(ValidationError):
        Message(id=identifier, role="user", content="Hi")


@pytest.mark.parametrize("tag", TAGS)
def test_tags_have_one_to_64_characters(memory, tag):
    assert memory.add("Likes tea", **U, tags=[tag]).tags == (tag,)


@pytest.mark.parametrize("tag", NO_TAGS)
def test_other_tags_are_refused(memory, tag):
    with pytest.raises(InvalidInputError, match="must be 1-64 letters"):
        memory.add("Likes tea", **U, tags=[tag])


# ---------------------------------------------------------------- long logs


def liking(messages):
    return [
        Candidate(
            content=m.content.partition(". ")[0],
            category="preference",
            confidence=1,
            message_ids=(m.id,),
        )
        for m in messages
        if m.content.startswith("I like")
    ]


@pytest.fixture
def open_small(open_memory):
    ingest = IngestSettings(quiet_seconds=0.01, retry_seconds=0.01)
    settings = Settings(log=LogSettings(most_bytes=20_000, refuse_at=3), ingest=ingest)
    return lambda **parts: open_memory(
        **{
            "settings": settings,
            "extractor": ScriptedExtractor(liking),
            "embedder": HashEmbedder(DIMENSION),
            "pair_judge": ScriptedPairJudge(lambda older, newer: None),  # likings add up
            **parts,
        }
    )


def texts(number: int, first: int = 0) -> list[str]:
    """Return texts, every tenth of which yields a fact; their log lines take about 400 bytes."""
    return [
        f"I like the {name(str(n))}. " + "x" * 200 if n % 10 == 0 else f"Said {n}. " + "x" * 200
        for n in range(first, first + number)
    ]


Kind = TypeVar("Kind")


def of(kind: type[Kind], events: Sequence[object]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def test_a_log_that_grows_too_long_warns_and_is_shortened_and_nothing_is_lost(open_small, events):
    memory = open_small()
    said = texts(120)
    size = lambda: inside(memory).log.size("u1", "s1")  # noqa: E731
    largest = 0
    for number, text in enumerate(said):
        memory.observe(say(text, start=number), **S)
        memory.flush()
        largest = max(largest, size())
        assert eventually(lambda: size() <= 20_000)
    assert largest < 25_000
    assert len(of(LogNearlyFull, events)) >= 2
    warned = of(LogNearlyFull, events)[0]
    assert (warned.limit, 18_000 <= warned.size < 20_500) == (20_000, True)
    shortened = of(LogShortened, events)
    assert sum(event.before - event.after for event in shortened) > 10_000

    assert [message.content for message in memory.sessions.messages(**S)] == said
    assert len(memory.list(**U, limit=None, filters={"categories": ["preference"]})) == 12
    assert memory.search("the b", **U)[0].fact.content.startswith("I like the b")
    logged = {record.message.content for record in inside(memory).log.read("u1", "s1")}
    assert set(said[-10:]) <= logged
    assert len([text for text in said if text.startswith("I like") and text in logged]) == 12
    assert [finding for finding in memory.admin.check() if not finding.ok] == []
    extracted = sum(event.messages for event in of(FactsExtracted, events))
    assert extracted == len(said)  # each read once

    # told again, it is known; exported and loaded, it is all there
    assert memory.observe(say(said[1], start=1), **S).accepted == 0
    exported = [record for record in memory.transfer.export(**U) if record["kind"] == "message"]
    assert {record["message"]["content"] for record in exported} == {*said}
    memory.close()
    memory = open_small()
    memory.observe(say("And on it goes", start=1_000), **S)
    memory.flush()
    assert [message.content for message in memory.sessions.messages(**S)] == [
        *said,
        "And on it goes",
    ]


def test_messages_of_superseded_facts_go_first_then_the_least_relevant():
    records = [
        Record(n, n, n + 1, Message(id=f"m{n}", role="user", content="x", created_at=NOW))
        for n in range(6)
    ]
    worth = {"m0": 0.9, "m1": 0.04, "m3": None, "m4": 0.3, "m5": 0.06}
    gone = expendable(records, worth, 5, lambda record: 1)
    assert [*gone.items()] == [
        ("m3", "superseded"),
        ("m2", "relevance below 0.05"),  # no fact rests on it
        ("m1", "relevance below 0.05"),
        ("m5", "least relevant"),
        ("m4", "least relevant"),
    ]


def test_the_report_of_a_shortened_log_says_why_messages_were_removed(open_small, events):
    memory = open_small()
    for number, text in enumerate(texts(60)):
        memory.observe(say(text, start=number), **S)
        memory.flush()
    assert eventually(lambda: bool(of(LogShortened, events)))
    for event in of(LogShortened, events):
        assert sum(event.because.values()) == event.messages
        assert event.because["relevance below 0.05"] > 0


def test_what_was_not_read_yet_stays_in_the_log(open_small, events):
    def fails(messages):
        raise RuntimeError("no model")

    memory = open_small(extractor=ScriptedExtractor(fails))
    said = texts(100)
    memory.observe(say(*said, start=0), **S)
    assert eventually(lambda: len(of(LogNearlyFull, events)) == 1)
    assert eventually(lambda: memory.admin.stats().memories == 100)
    memory.close()
    assert of(LogShortened, events) == []
    memory = open_small()
    memory.observe(say("I like the end", start=500), **S)
    memory.flush()
    found = memory.list(**U, limit=None, filters={"categories": ["preference"]})
    assert len(found) == 11
    assert eventually(lambda: bool(of(LogShortened, events)))
    assert [message.content for message in memory.sessions.messages(**S)] == [
        *said,
        "I like the end",
    ]


def test_a_full_log_of_which_nothing_can_be_removed_refuses_messages(open_small, events):
    down = True

    def fails_at_first(messages):
        if down:
            raise RuntimeError("no model")
        return liking(messages)

    memory = open_small(extractor=ScriptedExtractor(fails_at_first))
    said = texts(250)

    def observe_all() -> None:
        for number, text in enumerate(said):
            memory.observe(say(text, start=number), **S)

    with pytest.raises(LogFullError, match=r"60,000 at most.*wait for extraction") as full:
        observe_all()
    assert "try again once extraction has caught up" in str(full.value)
    kept = len(memory.sessions.messages(**S))
    assert [message.content for message in memory.sessions.messages(**S)] == said[:kept]
    memory.observe(say("Another session takes messages", start=0), **U, session_id="s2")
    down = False
    memory.flush()
    for number, text in enumerate(said[kept:], start=kept):
        memory.observe(say(text, start=number), **S)
    assert [message.content for message in memory.sessions.messages(**S)] == said


def test_messages_that_fill_a_new_log_at_once_are_refused_with_the_figures(open_small):
    memory = open_small()
    with pytest.raises(LogFullError, match=r"come at once.*60,000 at most.*several sessions"):
        memory.observe(say(*["word " * 500] * 30), **S)
    assert memory.sessions.list(**U) == []
    assert memory.observe(say("I like tea"), **S).accepted == 1


def test_a_log_full_of_ids_says_that_waiting_will_not_help(open_memory):
    settings = Settings(log=LogSettings(most_bytes=10_000, refuse_at=1), data_dir=Path())
    memory = open_memory(settings=settings)

    def observe_all() -> None:
        for number in range(400):
            memory.observe(say("Ok", start=number), **S)
            memory.flush()

    with pytest.raises(LogFullError, match=r"raise log\.most_bytes"):
        observe_all()


def test_a_log_of_short_messages_beyond_its_limit_is_not_rewritten_at_every_message(
    open_small, events
):
    memory = open_small()
    size = lambda: inside(memory).log.size("u1", "s1")  # noqa: E731
    memory.observe(say(*(f"Said {n}" for n in range(400)), start=0), **S)
    memory.flush()
    assert eventually(lambda: bool(of(LogShortened, events)))
    assert size() > 20_000  # their ids alone take more
    rewritten = len(of(LogShortened, events))
    assert sum(event.before - event.after for event in of(LogShortened, events)) > 0
    for number in range(400, 418):
        memory.observe(say(f"Said {number}", start=number), **S)
        memory.flush()
    memory.close()
    assert len(of(LogShortened, events)) <= rewritten + 2
