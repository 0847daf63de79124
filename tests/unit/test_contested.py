"""A statement trusted less, or much less certain, ends no fact: both stay, contested."""

from __future__ import annotations

import pytest

from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.messages import Message
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import ScriptedSentenceJudge

U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False), ingest=IngestSettings(background=False))


@pytest.fixture
def memory(open_memory):
    return open_memory(settings=SETTINGS, sentence_judge=ScriptedSentenceJudge())


@pytest.fixture
def add(memory, clock):
    def added(content, **values):
        clock.advance(hours=24 * 3)
        fact = memory.add(content, **values, **U)
        memory.flush()
        return fact.id

    return added


CONFLICTS = [
    ("The user lives in Bergen.", "The user lives in Lisbon."),
    ("The user works at Northwind.", "The user works at Alder."),
    ("The user is allergic to peanuts.", "The user is allergic to nothing."),
]


@pytest.mark.parametrize(("before", "after"), CONFLICTS)
@pytest.mark.parametrize(
    "doubt", [{"confidence": 0.05}, {"trust": "agent"}, {"trust": "external"}], ids=str
)
def test_a_doubtful_statement_ends_nothing(memory, add, before, after, doubt):
    old = add(before, confidence=0.85)
    new = add(after, **doubt)
    facts = {fact.id: fact for fact in memory.list(**U)}
    assert facts.keys() == {old, new}
    assert (facts[old].contested_by, facts[new].contested_by) == ((new,), (old,))
    versions = {one: memory.get(one).version for one in (old, new)}
    memory.jobs.run(["all"])
    assert {one: memory.get(one).version for one in (old, new)} == versions


@pytest.mark.parametrize(("before", "after"), CONFLICTS)
@pytest.mark.parametrize("confidence", [1.0, 0.7])
def test_a_statement_as_trusted_and_about_as_certain_supersedes(
    memory, add, before, after, confidence
):
    old = add(before, trust="agent")
    new = add(after, confidence=confidence)
    assert [fact.id for fact in memory.list(**U)] == [new]
    assert memory.get(old).superseded_by == new


def test_stating_it_again_for_sure_ends_the_contest(memory, add):
    old = add("The user lives in Bergen.")
    new = add("The user lives in Lisbon.", trust="external", confidence=0.4)
    assert len(memory.list(**U)) == 2
    assert add("The user lives in Lisbon.") == new
    (left,) = memory.list(**U)
    assert (left.id, left.trust, left.confidence) == (new, "user", 1.0)
    assert memory.get(old).status is Status.SUPERSEDED


def test_a_contest_is_shown_with_the_trusted_statement_first(memory, add):
    old = add("The user lives in Bergen.")
    new = add("The user lives in Lisbon.", trust="external")
    hits = memory.search("Where does the user live?", **U)
    assert [hit.fact.id for hit in hits][:2] == [old, new]
    text = memory.context("Where does the user live?", **U).text
    assert "Bergen. (contested" in text
    assert "Lisbon. (external, contested)" in text
    assert text.index("Bergen") < text.index("Lisbon")
    memory.delete(new, user_id="u1")
    assert "contested" not in memory.context("Where does the user live?", **U).text


def test_what_a_tool_repeats_makes_no_fact_more_certain(memory, add):
    known = add("The user lives in Bergen.", confidence=0.6, importance=0.4)
    add("The user lives in Bergen.", confidence=1.0, importance=1.0, trust="external")
    fact = memory.get(known)
    assert (fact.confidence, fact.importance, fact.trust) == (0.6, 0.4, "user")
    assert fact.confirmed_at is None
    add("The user's home is in Bergen.", confidence=1.0, trust="external")
    assert memory.get(known).confidence == 0.6


def test_an_imported_message_ends_nothing_that_the_user_said(memory, add, clock):
    known = add("The user's goldfish is called Kevin.")
    clock.advance(hours=48)
    for trust in ("imported", "external"):
        said = Message(role="user", content="My goldfish is called Bubbles.", trust=trust)
        memory.observe([said], session_id=trust, **U)
        memory.flush()
        assert memory.get(known).status is Status.ACTIVE
    memory.observe(
        [Message(role="user", content="My goldfish is called Bubbles.")], session_id="live", **U
    )
    memory.flush()
    assert memory.get(known).status is Status.SUPERSEDED


def test_a_profile_keeps_to_the_trusted_statement(memory, add):
    add("The user lives in Bergen.")
    add("The user lives in Lisbon.", trust="external")
    add("The user plays the cello.", trust="agent")
    rested = memory.profile.get(**U).model_dump_json()
    assert "Bergen" in rested
    assert "cello" in rested
    assert "Lisbon" not in rested


def test_repeating_a_statement_is_one_confirmation(memory, clock):
    fact = memory.add("Prefers tea", confidence=0.5, **U)
    for _ in range(20):
        clock.advance(hours=1)
        memory.add("Prefers tea", confidence=0.5, **U)
    assert memory.get(fact.id).confidence == 0.5
    for _ in range(20):
        clock.advance(hours=25)
        memory.add("Prefers tea", confidence=0.5, **U)
    assert memory.get(fact.id).confidence == pytest.approx(0.52)


def test_repeating_it_in_one_session_is_one_confirmation(memory, clock):
    def say(session, number):
        clock.advance(hours=25)
        said = Message(role="user", content="I live in Bergen.", created_at=clock.now())
        memory.observe([said], session_id=session, **U)
        memory.flush()
        (fact,) = [one for one in memory.list(**U) if one.category is not Category.CONVERSATION]
        return fact.confidence

    one, *same = [say("a", number) for number in range(5)]
    assert same == [pytest.approx(one + 0.02)] * 4
    assert say("b", 6) == pytest.approx(one + 0.04)


QUOTED = [
    '"""I am no longer allergic to peanuts."""',
    "> I am no longer allergic to peanuts.\nWhat should I answer?",
    "<document>I am no longer allergic to peanuts.</document>",
    "Translate this: I am no longer allergic to peanuts.",
    "Here's what Bob wrote me: I am no longer allergic to peanuts.",
    "Pretend I'm my brother. I am no longer allergic to peanuts.",
    "From: Bob\nSubject: news\n\nI am no longer allergic to peanuts.",
    "```\nI am no longer allergic to peanuts.\n```",
]


@pytest.mark.parametrize("text", QUOTED)
def test_pasted_text_speaks_for_nobody(memory, add, clock, text):
    known = add("The user is allergic to peanuts.", confidence=0.85)
    clock.advance(hours=48)
    memory.observe([Message(role="user", content=text)], session_id="s", **U)
    memory.flush()
    assert [fact.id for fact in memory.list(filters={"not_categories": ["conversation"]}, **U)] == [
        known
    ]


def test_the_users_words_beside_a_quotation_count(memory, add, clock):
    known = add("The user is allergic to peanuts.", confidence=0.85)
    clock.advance(hours=48)
    text = "> I live in Rome.\nI am allergic to nothing."
    memory.observe([Message(role="user", content=text)], session_id="s", **U)
    memory.flush()
    assert memory.get(known).status is Status.SUPERSEDED
    assert "Rome" not in memory.profile.get(**U).model_dump_json()
