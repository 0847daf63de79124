"""Newer statements beside older ones, and topics."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from semantic_memory import Message
from semantic_memory.context.excerpt import source_of, telling
from semantic_memory.context.topics import topics
from semantic_memory.domain.changes import Add, Embed, FactVectors
from semantic_memory.domain.facts import Category, Source
from semantic_memory.domain.filters import Filters
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.nearby import is_about, nearby
from semantic_memory.retrieval.partition import Partition
from tests.conftest import NOW, make_fact

U = {"user_id": "u1"}
EAST, NORTH_EAST, NORTH = (1.0, 0.0), (0.8, 0.6), (0.0, 1.0)


@pytest.fixture
def found(tmp_path):
    """Return what stands near the first of some facts, each with a direction and a day."""
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")

    def find(*told, **sources):
        for number, (direction, day) in enumerate(told):
            source = sources.get(f"of_{number}", Source(role="user", speaker="Ida"))
            fact = make_fact(number, created_at=NOW + timedelta(days=day), source=source)
            window = np.array([direction], np.float32)
            ledger.apply([Add(fact)])
            ledger.apply([Embed(fact.id, fact.content, FactVectors(window, window[:0]))])
        partition = Partition()
        partition.apply(ledger.delta("u1", 0))
        return nearby(partition.snapshot(Filters(), ()), ["fact-0"])

    yield find
    ledger.close()


def test_the_nearest_newer_statements_are_found(found):
    near = found((EAST, 0), (NORTH_EAST, 5), (EAST, 9), (NORTH, 9), (EAST, -9))
    assert [one for one, _ in near.newer["fact-0"]] == ["fact-2", "fact-1"]


def test_of_another_speaker_or_of_the_assistant_nothing_is_found(found):
    other, assistant = Source(role="user", speaker="Max"), Source(role="assistant", speaker="Ida")
    near = found((EAST, 0), (EAST, 5), (EAST, 6), of_1=other, of_2=assistant)
    assert near.newer == {}


def test_a_message_and_the_facts_drawn_from_it_come_once(found):
    source = Source(session_id="s1", message_ids=("m1",), role="user", speaker="Ida")
    near = found((EAST, 0), (NORTH_EAST, 5), (EAST, 5), of_1=source, of_2=source)
    assert [one for one, _ in near.newer["fact-0"]] == ["fact-2"]


@pytest.mark.parametrize(
    ("older", "newer", "cosine", "is_found", "expected"),
    [
        ("Bank with Barclays", "barclays shut, off to Nationwide", 0.2, False, True),
        ("On nights at the ward", "days from now on, the ward is calm", 0.2, False, False),
        ("On nights at the ward", "days from now on", 0.35, True, True),
        ("On nights at the ward", "days from now on", 0.35, False, False),
        ("On nights at the ward", "days from now on", 0.6, False, True),
    ],
)
def test_a_statement_little_like_the_older_must_name_it(older, newer, cosine, is_found, expected):
    one, other = make_fact(1, content=newer), make_fact(2, content=older)
    assert is_about(one, other, cosine, is_found=is_found) is expected


def said(number, content, position, session="s1", days=0):
    source = Source(session_id=session, position=position, message_ids=(f"m{number}",), role="user")
    return make_fact(
        number,
        content=content,
        category=Category.CONVERSATION,
        created_at=NOW + timedelta(days=days),
        source=source,
    )


def test_topics_are_in_the_order_of_their_best_and_end_with_the_latest():
    facts = [
        said(1, "Tea is fine", 1),
        said(2, "The flat in Leeds is small", 4, days=3),
        said(3, "We found something in Leeds", 7),
        said(4, "Coffee too", 2),
        *(said(n, f"colour {n}", 20 + 2 * n) for n in range(5, 9)),
    ]
    assert topics(facts, set())[:2] == [[0, 3], [2, 1]]


def test_a_name_in_most_memories_tells_none_apart():
    facts = [said(n, f"I saw Rex at place {n}", 10 * n) for n in range(1, 8)]
    assert topics(facts, set()) == [[n] for n in range(7)]


def test_what_is_linked_is_one_topic_by_id_or_by_message():
    facts = [said(1, "one", 1), said(2, "two", 11), said(3, "three", 21)]
    assert topics(facts, {("fact-3", "u1/s1/m1")}) == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Thanks, Mel! I went to Oslo by train. How about you?", "I went to Oslo by train."),
        ("Two cats. And you?", "Two cats."),
        ("How about you?", "How about you?"),
        ("- eggs\n- milk\n\nWhat else?", "- eggs\n- milk\n\nWhat else?"),
    ],
)
def test_a_message_is_shown_by_what_it_tells(text, kept):
    assert telling(text) == kept


def test_sentences_that_other_lines_tell_are_left_out():
    known = frozenset({"allerg", "penicillin"})
    assert telling("I'm allergic to penicillin. What helps?", (), known) == ""
    assert telling("I'm allergic to penicillin. I live in Oslo.", (), known) == "I live in Oslo."


def test_a_fact_with_another_figure_than_its_message_is_not_in_it():
    assert source_of("Pays 950 for the flat", "I pay 900 for the flat.", str) is None
    assert source_of("Pays 900 for the flat", "Hi. I pay 900 for the flat here.", str) is not None


def told(memory, *messages):
    for number, (days, text) in enumerate(messages):
        one = Message(
            id="m1", role="user", content=text, created_at=NOW + timedelta(days=days - 30)
        )
        memory.observe([one], session_id=f"s{number}", **U)
    memory.flush()


def test_a_later_statement_about_a_found_one_follows_it_in_the_block(memory):
    talk = [(n, f"What is {n} times {n + 1}?") for n in range(2, 9)]
    told(
        memory,
        (0, "My label is Paper Moth, tiny but sweet."),
        *talk,
        (20, "Paper Moth folded, so the record comes out on Hollow Oak."),
    )
    text = memory.context("Which label is my Paper Moth?", **U, budget=600).text
    assert "<notes>" in text
    assert text.rindex("Hollow Oak") > text.rindex("label is Paper Moth")
