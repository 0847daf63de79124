"""Searches and blocks after their memories were edited, replaced, restored or forgotten."""

import pytest

from semantic_memory.domain.facts import Category
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import say
from tests.support.judges import plain_pair_judge

QUESTION = "Which desk does Mara use in the office?"


@pytest.fixture
def clock():
    return FrozenClock()


@pytest.fixture
def memory(tmp_path, clock):
    parts = {
        "embedder": HashEmbedder(),
        "index": InMemoryIndex(),
        "clock": clock,
        "pair_judge": plain_pair_judge(),
    }
    with SemanticMemory.open(tmp_path, **parts) as memory:
        yield memory


def looked_up(memory, user_id="u1"):
    """Return the texts of the hits and of the block, asked twice, so that both are read before."""
    for _ in range(2):
        hits = {hit.fact.content for hit in memory.search(QUESTION, user_id=user_id)}
        text = memory.context(QUESTION, user_id=user_id, budget=500).text
    return hits, text


def added(memory, content, user_id="u1"):
    return memory.add(content, user_id=user_id, category=Category.PERSONAL)


def test_an_edited_memory_is_shown_as_edited(memory):
    fact = added(memory, "Mara uses the oak desk in the office")
    assert "oak desk" in looked_up(memory)[1]
    memory.update(fact.id, user_id="u1", content="Mara uses the steel desk in the office")
    hits, text = looked_up(memory)
    assert hits == {"Mara uses the steel desk in the office"}
    assert "steel desk" in text
    assert "oak desk" not in text


def test_a_forgotten_memory_is_gone(memory):
    fact = added(memory, "Mara uses the oak desk in the office")
    kept = added(memory, "Mara's desk in the office stands by the window")
    looked_up(memory)
    memory.delete(fact.id, user_id="u1")
    hits, text = looked_up(memory)
    assert hits == {kept.content}
    assert "oak" not in text


def test_a_message_is_marked_while_what_it_says_has_ended(memory, clock):
    def is_marked():
        hits = memory.search("Where did I live in spring?", user_id="u1")
        return any(hit.changed for hit in hits if hit.fact.content == "I live in Bergen.")

    memory.observe(say("I live in Bergen."), user_id="u1", session_id="s1")
    memory.flush()
    assert not is_marked()
    clock.advance(days=30)
    memory.observe(say("I live in Oslo now."), user_id="u1", session_id="s2")
    memory.flush()
    assert is_marked()
    (ended,) = memory.list(user_id="u1", filters={"statuses": ["superseded"]})
    memory.history.restore(ended.id, user_id="u1")
    assert not is_marked()


def test_each_user_sees_their_own_of_the_same_words(memory):
    mine = added(memory, "Mara uses the oak desk in the office")
    added(memory, "Mara uses the oak desk in the office", "u2")
    looked_up(memory)
    looked_up(memory, "u2")
    memory.update(mine.id, user_id="u1", content="Mara uses the steel desk in the office")
    assert looked_up(memory)[0] == {"Mara uses the steel desk in the office"}
    assert looked_up(memory, "u2")[0] == {"Mara uses the oak desk in the office"}
