"""Summaries of sessions, and their overrides."""

import pytest

from semantic_memory import Candidate
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import PINNED
from semantic_memory.domain.messages import SessionOptions
from semantic_memory.testing import ScriptedExtractor
from tests.conftest import say
from tests.support.inside import log_file

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}


def remark(messages):
    return [
        Candidate(content=m.content, category="finding", confidence=1, message_ids=(m.id,))
        for m in messages
    ]


@pytest.fixture
def open_it(open_memory):
    return lambda: open_memory(extractor=ScriptedExtractor(remark))


def facts(memory) -> list[str]:
    found = memory.list(**U, filters={"categories": ["finding"]})
    return sorted(fact.content for fact in found)


def test_a_session_tells_when_it_was_made_and_last_accessed(open_it, clock):
    memory = open_it()
    began = clock.now()
    memory.observe(say("The lake is cold"), **S)
    memory.flush()
    clock.advance(days=1)
    memory.observe(say("The tea is warm", start=2), **S)
    memory.flush()
    (info,) = memory.sessions.list(**U)
    assert (info.created_at, info.last_accessed_at) == (began, clock.now())
    assert info.by_category == {"conversation": 2, "finding": 2}
    assert info.log_bytes == log_file(memory, "u1", "s1").stat().st_size
    clock.advance(days=1)
    assert memory.context("How cold is the lake?", **U).hits
    memory.jobs.run(["usage"])
    (info,) = memory.sessions.list(**U)
    assert info.last_accessed_at == clock.now()
    assert info.created_at == began


def test_a_session_that_is_not_extracted_is_found_and_never_read(open_it):
    memory = open_it()
    options = memory.sessions.configure(**S, extract=False)
    assert options == SessionOptions(extract=False)
    memory.observe(say("The lake is cold"), **S)
    memory.observe(say("The sun is warm"), **U, session_id="s2")
    memory.flush()
    assert facts(memory) == ["The sun is warm"]
    assert "The lake is cold" in [hit.fact.content for hit in memory.search("lake", **U)]
    memory.observe(say("The lake is deep", start=2), **S)
    memory.close()

    memory = open_it()
    held = {info.session_id: info.options for info in memory.sessions.list(**U)}
    assert held == {"s1": options, "s2": SessionOptions()}
    memory.sessions.configure(**S, extract=True)
    memory.observe(say("The lake is large", start=3), **S)
    memory.flush()
    assert facts(memory) == ["The lake is large", "The sun is warm"]
    assert memory.sessions.configure(**S) == SessionOptions()


def test_facts_of_a_session_that_does_not_fade_are_pinned(open_it, clock):
    memory = open_it()
    memory.sessions.configure(**S, fades=False)
    memory.observe(say("The lake is cold"), **S)
    memory.observe(say("The sun is warm"), **U, session_id="s2")
    memory.flush()
    assert [f.content for f in memory.list(**U, filters={"tags": [PINNED]})] == ["The lake is cold"]
    clock.advance(days=1_000)
    memory.jobs.run(["decay"])
    left = {f.content: f.confidence for f in memory.list(**U, filters={"categories": ["finding"]})}
    assert left["The lake is cold"] == 1
    assert left.get("The sun is warm", 0) < 1


def test_a_forgotten_session_keeps_no_options(open_it):
    memory = open_it()
    memory.sessions.configure(**S, extract=False)
    memory.observe(say("The lake is cold"), **S)
    memory.flush()
    memory.forget(**S)
    assert memory.sessions.configure(**S) == SessionOptions()


def test_options_are_checked(open_it):
    memory = open_it()
    with pytest.raises(InvalidInputError, match="session_id"):
        memory.sessions.configure(**U, session_id="../x", extract=False)
    with pytest.raises(InvalidInputError, match="extract"):
        memory.sessions.configure(**S, extract="perhaps")
