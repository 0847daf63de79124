"""Newer statements retire older ones in a store, and recall shows it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.messages import Message
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings, load

U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False), ingest=IngestSettings(background=False))


@pytest.fixture(scope="module")
def embedder():
    return make_embedder(load())


@pytest.fixture
def memory(open_memory, embedder):
    return open_memory(embedder=embedder, settings=SETTINGS)


@pytest.fixture
def say(memory, clock):
    """Return a function that observes a message of the user two weeks after the last one."""
    number = 0

    def said(content, session_id=None):
        nonlocal number
        number += 1
        clock.advance(hours=24 * 14)
        message = Message(id=f"m{number}", role="user", content=content, created_at=clock.now())
        memory.observe([message], session_id=session_id or f"s{number}", **U)
        memory.flush()

    return said


def believed(memory):
    return [
        fact.content
        for fact in memory.list(limit=None, **U)
        if fact.category is not Category.CONVERSATION
    ]


def ended(memory):
    return memory.list(status=Status.SUPERSEDED, limit=None, **U)


def test_a_message_without_a_fact_of_its_own_ends_one(memory, say):
    memory.add("The user's goldfish is called Kevin.", **U)
    say("kevin died :(")
    (fact,) = ended(memory)
    assert (fact.content, fact.valid_to is None) == ("The user's goldfish is called Kevin.", False)
    assert memory.history(fact.id)[-1].reason == "ended: kevin"


def test_a_statement_that_was_never_a_fact_is_recorded_when_it_ends(memory, say, clock):
    say("cap on the portal is 10mb")
    before = clock.now() + timedelta(hours=1)
    say("cap on the portal is 50mb now")
    (fact,) = ended(memory)
    assert "10mb" in fact.content
    assert fact.valid_from < before < fact.valid_to


def test_a_message_that_no_longer_holds_is_marked_in_the_block_and_ranked_behind(memory, say):
    say("The gateway listens on port 8080.")
    say("The gateway listens on port 9443 now.")
    hits = memory.search("Which port does the gateway listen on?", k=5, **U)
    assert "9443" in hits[0].fact.content
    (old,) = [hit for hit in hits if "8080" in hit.fact.content]
    block = memory.context("Which port does the gateway listen on?", budget=600, **U).text
    assert old.changed is not None
    (line,) = [line for line in block.splitlines() if "8080" in line]
    assert f"(since changed: {old.changed.date().isoformat()})" in line


def test_a_question_about_the_past_keeps_the_order(memory, say):
    say("The gateway listens on port 8080.")
    say("The gateway listens on port 9443 now.")
    hits = memory.search("Which port was 8080, where the gateway did listen?", k=5, **U)
    assert "8080" in hits[0].fact.content


def test_a_restored_fact_is_not_ended_again(memory, say):
    memory.add("The user's goldfish is called Kevin.", **U)
    say("kevin died :(")
    (fact,) = ended(memory)
    memory.restore(fact.id, **U)
    memory.flush()
    say("What do goldfish eat now?")
    assert "The user's goldfish is called Kevin." in believed(memory)


def test_other_talk_ends_nothing(memory, say):
    say("I live in Leeds, near the canal.")
    for content in (
        "My sister moved to York last month.",
        "If I moved to York I'd miss the canal.",
        "We also looked at a flat in York now.",
        "How do I remove a wine stain now?",
    ):
        say(content)
    assert ended(memory) == []


@pytest.mark.parametrize(
    ("fact", "news"),
    [
        (
            "The user works as a nurse at the children's clinic.",
            "The clinic gave the nurses new badges last week, mine has a terrible photo.",
        ),
        (
            "The user plays tennis on Mondays.",
            "There was no tennis this Monday because of the rain, any film for the evening?",
        ),
    ],
)
def test_news_on_the_same_matter_end_nothing(memory, say, fact, news):
    memory.add(fact, **U)
    say(news)
    assert ended(memory) == []
