"""Faults of input: errors of the caller are told, and a text that can't be read stops no other."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from semantic_memory import Candidate, Message
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import MemoryQuarantined
from semantic_memory.testing import ScriptedExtractor
from tests.conftest import say

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
FIRST_YEAR = datetime(1, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "since 9999-12-31",
        "I have lived in Oslo since 9999-12-31.",
        "I was hired 9,000 years ago.",
        "in December 9999",
        "before 0001-01-01",
        "I moved on 31 December 9999 and stayed until 9999-12-31",
    ],
)
def test_a_message_with_a_date_beyond_all_years_holds_up_no_flush(memory, text):
    memory.observe(say(text), **S)
    memory.observe(say("I live in Bergen."), user_id="u2", session_id="s2")
    memory.flush()
    assert any("Bergen" in hit.fact.content for hit in memory.search("Bergen", user_id="u2"))
    memory.search(text, **U)
    memory.context(text, **U)


def reading(messages: Sequence[Message]) -> list[Candidate]:
    """Fail at a text that no rule expects, as an arithmetic error would."""
    if any("9999" in message.content for message in messages):
        raise OverflowError("date value out of range")
    return [
        Candidate(
            content=message.content, category="personal", confidence=1, message_ids=(message.id,)
        )
        for message in messages
    ]


def test_a_message_that_cannot_be_read_is_quarantined_and_the_rest_goes_on(open_memory, events):
    memory = open_memory(extractor=ScriptedExtractor(reading))
    memory.observe(say("I live in Oslo", "since 9999", "I own a boat", "I play chess"), **S)
    memory.observe(say("I live in Bergen"), user_id="u2", session_id="s2")
    memory.flush()
    (held,) = memory.list(**U, status="quarantined")
    assert held.content == "since 9999"
    assert "OverflowError" in memory.history.versions(held.id)[-1].reason
    facts = {fact.content for fact in memory.list(**U, filters="category:personal")}
    assert facts == {"I live in Oslo", "I own a boat", "I play chess"}
    assert memory.list(user_id="u2", filters="category:personal")
    (event,) = (event for event in events if isinstance(event, MemoryQuarantined))
    assert (event.memory_id, event.error) == (held.id, "OverflowError")
    memory.flush()


def test_a_fact_that_consolidation_cannot_read_is_quarantined(memory, events, monkeypatch):
    from semantic_memory.domain.values import normalised

    def breaks(text: str) -> str:
        if "9999" in text:
            raise OverflowError("date value out of range")
        return normalised(text)

    monkeypatch.setattr("semantic_memory.consolidation.resolver.normalised", breaks)
    memory.add("Lives in Oslo since 9999", **U)
    memory.add("Owns a boat", **U)
    memory.add("Owns a house", user_id="u2")
    memory.flush()
    assert [fact.content for fact in memory.list(**U)] == ["Owns a boat"]
    assert len(memory.list(**U, status="quarantined")) == 1
    assert [event.error for event in events if isinstance(event, MemoryQuarantined)]


REFUSED = {
    "k of 1.5": lambda memory: memory.search("x", **U, k=1.5),
    "k is true": lambda memory: memory.search("x", **U, k=True),
    "k is NaN": lambda memory: memory.search("x", **U, k=float("nan")),
    "limit is true": lambda memory: memory.list(**U, limit=True),
    "limit is text": lambda memory: memory.list(**U, limit="3"),
    "points are true": lambda memory: memory.profile.layout(**U, limit=True),
    "runs are true": lambda memory: memory.jobs.runs(True),
    "budget is true": lambda memory: memory.context("x", **U, budget=True),
    "confidence is true": lambda memory: memory.add("x", **U, confidence=True),
    "confidence is NaN": lambda memory: memory.add("x", **U, confidence=float("nan")),
    "half-life is true": lambda memory: memory.sessions.create(
        **U, half_life_days={"project": True}
    ),
    "a record is None": lambda memory: memory.transfer.load([None], **U),
    "a record is a list": lambda memory: memory.transfer.load([[1]], **U),
    "records are None": lambda memory: memory.transfer.load(None, **U),
    "a document is None": lambda memory: memory.transfer.from_dict(None, **U),
    "items are None": lambda memory: memory.transfer.add_many(None, **U),
    "an item is None": lambda memory: memory.transfer.add_many([None], **U),
    "messages are None": lambda memory: memory.observe(None, **S),
    "messages are a text": lambda memory: memory.observe("hello", **S),
    "jobs are None": lambda memory: memory.jobs.run(None),
    "jobs are a text": lambda memory: memory.jobs.run("dedup"),
    "an id is a surrogate": lambda memory: memory.get("\ud800"),
    "an id is NUL": lambda memory: memory.get("\x00"),
    "a query is a surrogate": lambda memory: memory.search("\ud800", **U),
    "a query has NUL": lambda memory: memory.search("a\x00", **U),
    "metadata has NaN": lambda memory: memory.add("x", **U, metadata={"a": float("nan")}),
    "metadata has a surrogate": lambda memory: memory.add("x", **U, metadata={"a": "\ud800"}),
    "a profile has a surrogate": lambda memory: memory.profile.update(
        {"work_context": "\ud800"}, **U
    ),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_value_that_cannot_be_used_is_an_input_error(memory, call):
    with pytest.raises(InvalidInputError) as refused:
        call(memory)
    str(refused.value).encode("utf-8")


def test_the_first_year_and_the_last_are_answered(memory):
    memory.add("Lives in Oslo", **U)
    for at in (FIRST_YEAR, datetime(9999, 12, 31, 23, tzinfo=UTC)):
        for query in ("since 9999-12-31", "last year", "3 weeks ago", "yesterday", "Oslo"):
            memory.search(query, **U, as_of=at)
            memory.context(query, **U, as_of=at)
        memory.list(**U, filters={"as_of": at, "when": "last year"})
        memory.profile.get(**U, as_of=at)
    with pytest.raises(NotFoundError):
        memory.get("unknown")
