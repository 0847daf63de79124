"""Memories of one source go or are withdrawn; facts that they had retired are current again."""

from __future__ import annotations

import json

import pytest

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.messages import Message
from semantic_memory.domain.origins import Origin
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import ScriptedSentenceJudge
from tests.conftest import make_fact

U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False), ingest=IngestSettings(background=False))
ERASED_OR_WITHDRAWN = pytest.mark.parametrize("how", [{}, {"withdraw": True}], ids=str)


@pytest.fixture
def memory(open_memory):
    return open_memory(settings=SETTINGS, sentence_judge=ScriptedSentenceJudge())


@pytest.fixture
def say(memory, clock):
    def said(session, *texts, **values):
        clock.advance(days=3)
        messages = [Message(**{"role": "user", **values, "content": text}) for text in texts]
        memory.observe(messages, session_id=session, **U)
        memory.flush()

    return said


def facts(memory, status=None):
    filters = {"not_categories": [Category.CONVERSATION]}
    return sorted(fact.content for fact in memory.list(status=status, filters=filters, **U))


@pytest.fixture
def moved(memory, say):
    """A true statement, and a session that retires it."""
    say("true", "I live in Bergen. I play the cello.")
    say("false", "I live in Lisbon. I collect stamps.")
    assert any("Lisbon" in one for one in facts(memory))
    assert any("Bergen" in one for one in facts(memory, Status.SUPERSEDED))
    return memory


@ERASED_OR_WITHDRAWN
def test_a_retired_fact_is_current_again(moved, how):
    before = facts(moved, Status.SUPERSEDED)
    number = moved.forget(source="session:false", **how, **U)
    assert number > 1
    assert [one for one in facts(moved) if "Lisbon" in one or "stamps" in one] == []
    assert set(before) <= set(facts(moved))
    assert any("cello" in one for one in facts(moved))
    moved.flush()
    moved.jobs.run(["all"])
    assert set(before) <= set(facts(moved))
    found = [hit.fact.content for hit in moved.search("Where do I live?", **U)]
    assert "Bergen" in found[0]
    assert not any("Lisbon" in one for one in found)


@ERASED_OR_WITHDRAWN
def test_a_dry_run_shows_what_would_go_and_changes_nothing(moved, how):
    before = facts(moved), facts(moved, Status.SUPERSEDED)
    shown = moved.forget(source="session:false", dry_run=True, **how, **U)
    assert {fact.source.session_id for fact in shown.memories} == {"false"}
    assert (facts(moved), facts(moved, Status.SUPERSEDED)) == before
    assert moved.forget(source="session:false", **how, **U) == shown


def test_what_is_withdrawn_comes_back_by_restore(moved):
    before = facts(moved)
    moved.forget(source="session:false", withdraw=True, reason="a forged mail", **U)
    for fact in moved.list(status=Status.QUARANTINED, **U):
        assert moved.history.versions(fact.id)[-1].action == "withdrawn"
        assert moved.history.versions(fact.id)[-1].reason == "a forged mail"
        moved.history.restore(fact.id)
    assert set(before) <= set(facts(moved))


def test_what_is_erased_is_gone(moved):
    moved.forget(source="session:false", **U)
    assert moved.list(status=Status.QUARANTINED, **U) == []
    moved.jobs.run(["compact"])
    with pytest.raises(NotFoundError):
        moved.sessions.messages(session_id="false", **U)


@ERASED_OR_WITHDRAWN
def test_a_fact_that_others_retired_too_stays_retired(moved, say, how):
    say("later", "I live in Quito.")
    moved.forget(source="session:false", **how, **U)
    assert not any("Bergen" in one or "Lisbon" in one for one in facts(moved))
    assert any("Quito" in one for one in facts(moved))
    (old,) = (f for f in moved.list(status=Status.SUPERSEDED, **U) if "Bergen" in f.content)
    if how.get("withdraw"):
        return
    assert old.superseded_by is not None
    assert "Quito" in moved.get(old.superseded_by).content


def test_what_another_source_says_too_stays(memory, say):
    say("one", "I am allergic to peanuts.")
    say("two", "I am allergic to peanuts.")
    memory.forget(source="session:two", **U)
    assert any("peanuts" in one for one in facts(memory))
    memory.forget(source="session:one", **U)
    assert not any("peanuts" in one for one in facts(memory))


def test_what_is_still_to_be_extracted_is_withdrawn_too(memory):
    memory.observe([Message(role="user", content="I live in Lisbon.")], session_id="new", **U)
    memory.forget(source="session:new", withdraw=True, **U)
    memory.flush()
    assert memory.list(**U) == []
    assert any("Lisbon" in one for one in facts(memory, Status.QUARANTINED))


def test_each_kind_of_source_takes_its_own(memory, say):
    say("chat", "I live in Bergen.")
    say("chat", "Ovid was born in Sulmona.", role="tool", name="browser")
    memory.add("Prefers tea", trust="agent", **U)
    memory.add("Is left-handed", **U)
    extractor = next(
        fact.source.extractor
        for fact in memory.list(**U)
        if "Bergen" in fact.content and fact.category is not Category.CONVERSATION
    )
    for source, expected in {
        "speaker:browser": {"Ovid was born in Sulmona."},
        "role:tool": {"Ovid was born in Sulmona."},
        "trust:agent": {"Prefers tea"},
        "extractor:caller": {"Prefers tea", "Is left-handed"},
        "session:nothing": set(),
    }.items():
        shown = memory.forget(source=source, dry_run=True, **U).memories
        assert {fact.content for fact in shown} == expected, source
    drawn = memory.forget(source=f"extractor:{extractor}", dry_run=True, **U).memories
    assert all(fact.source.extractor == extractor for fact in drawn)
    assert any("Bergen" in fact.content for fact in drawn)


def test_other_conditions_narrow_a_source(memory, clock):
    memory.add("Prefers tea", trust="agent", **U)
    clock.advance(days=2)
    later = memory.add("Prefers coffee in the morning", trust="agent", **U)
    shown = memory.forget(source="trust:agent", since=later.created_at, dry_run=True, **U).memories
    assert [fact.id for fact in shown] == [later.id]


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "browser"},
        {"source": "page:https://example.org"},
        {"source": "session:"},
        {"source": "session: x"},
        {"source": "session:x", "entity": "Anna"},
        {"source": "session:x", "everything": True},
        {"withdraw": True, "entity": "Anna"},
        {"source": "session:x", "withdraw": True, "proof": True},
    ],
    ids=json.dumps,
)
def test_a_source_that_names_none_is_refused(memory, wrong):
    with pytest.raises(InvalidInputError):
        memory.forget(**wrong, **U)


def test_another_users_memories_stay(memory):
    memory.add("Prefers tea", trust="agent", user_id="u2")
    assert memory.forget(source="trust:agent", **U) == 0
    assert len(memory.list(user_id="u2")) == 1


def test_a_fact_of_two_sources_is_of_neither_alone():
    fact = make_fact()
    mixed = fact.model_copy(
        update={"corroborations": (fact.source.model_copy(update={"session_id": "s9"}),)}
    )
    assert not Origin.of("session:s9").gave(mixed)
    assert not Origin.of(f"session:{fact.source.session_id}").gave(mixed)
