"""A change is believed even if nothing was extracted of the message that tells it."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime
from pathlib import Path

import pytest

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.consolidation.renewal import renewal
from semantic_memory.consolidation.retelling import retold, touched
from semantic_memory.domain.english import values
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.messages import Message
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings, load
from tests.support.inside import inside

SAID = datetime(2026, 3, 3, tzinfo=UTC)
PAIRS = Path(__file__).parents[1] / "support" / "renewals" / "told.txt"
U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False), ingest=IngestSettings(background=False))


def pairs():
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        older, _, rest = line.partition(" <= ")
        newer, _, told = rest.partition(" => ")
        yield older, newer, None if told == "-" else told


def test_the_examples_run():
    assert doctest.testmod(values).failed == 0


@pytest.mark.parametrize(("older", "newer", "told"), list(pairs()))
def test_a_change_is_told_with_its_value(older, newer, told):
    found = renewal(older, newer, apart=1)
    reason = found.reason if found else "ended"
    assert retold(older, newer, reason, [], name="The user", said=SAID) == told


def test_what_was_drawn_from_a_message_isnt_told_again():
    said = "Down to one coffee a day."
    older = "The user drinks two coffees a day."
    assert retold(older, said, "replaced: coffee", [said], name="Ann", said=SAID) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("the cat only eats applaws now", ["The cat only eats applaws now."]),
        ("My neighbour's hens are loud now.", []),  # nothing known is about hens
        ("Should the cat eat applaws from now on?", []),
        ("the cat might eat applaws now", []),
        ("the cat eats applaws", []),
    ],
)
def test_a_change_of_what_is_known_is_told_in_the_words_of_its_author(said, told):
    known = ["The user's cat eats royal canin."]
    assert touched(said, known, [], name="The user", said=SAID) == told


def tell(memory, clock, content, session_id="s1"):
    message = Message(id="m1", role="user", content=content, created_at=clock.now())
    memory.observe([message], session_id=session_id, **U)


def facts(memory, status=Status.ACTIVE):
    return [
        fact
        for fact in memory.list(status=status, limit=None, **U)
        if fact.category is not Category.CONVERSATION
    ]


@pytest.fixture(scope="module")
def embedder():
    return make_embedder(load())


def test_a_value_that_a_message_gives_anew_is_believed(open_memory, clock, embedder):
    memory = open_memory(embedder=embedder, settings=SETTINGS)
    memory.add("The user's budget for the laptop is 900.", **U)
    clock.advance(hours=300)
    tell(memory, clock, "make that 1200 for the laptop")
    memory.flush()
    (fact,) = facts(memory)
    assert (fact.content, fact.message_ids) == (
        "The user's budget for the laptop is 1200.",
        ("m1",),
    )
    (old,) = facts(memory, Status.SUPERSEDED)
    assert old.superseded_by == fact.id


def test_a_change_is_told_once_its_session_is_extracted(open_memory, clock, embedder):
    memory = open_memory(embedder=embedder, settings=SETTINGS)
    memory.add("The user's budget for the laptop is 900.", **U)
    clock.advance(hours=300)
    tell(memory, clock, "make that 1200 for the laptop")
    parts = inside(memory)
    parts.pipeline.store()
    parts.pipeline.embed()
    for user in parts.resolver.unsettled(**U):
        parts.resolver.settle(user)
    assert facts(memory, Status.SUPERSEDED)
    assert not facts(memory)
    memory.flush()
    assert [fact.content for fact in facts(memory)] == ["The user's budget for the laptop is 1200."]


def test_nothing_is_told_of_a_session_that_isnt_extracted(open_memory, clock, embedder):
    memory = open_memory(embedder=embedder, settings=SETTINGS)
    memory.add("The user's budget for the laptop is 900.", **U)
    clock.advance(hours=300)
    memory.configure_session(session_id="s1", extract=False, **U)
    tell(memory, clock, "make that 1200 for the laptop")
    memory.flush()
    assert not facts(memory)


def test_a_change_is_forgotten_with_its_message(open_memory, clock, embedder):
    memory = open_memory(embedder=embedder, settings=SETTINGS)
    memory.add("The user's budget for the laptop is 900.", **U)
    clock.advance(hours=300)
    tell(memory, clock, "make that 1200 for the laptop")
    memory.flush()
    (message,) = [
        one for one in memory.list(limit=None, **U) if one.category is Category.CONVERSATION
    ]
    memory.delete(message.id, **U)
    assert not [one for one in facts(memory) if "1200" in one.content]
