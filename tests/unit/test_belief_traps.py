"""Mistakes that memory systems are known for, with the default embedding model."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain

import numpy as np
import pytest

from semantic_memory import Category, Fact
from semantic_memory.bootstrap import make_embedder
from semantic_memory.maintenance.fading import retention, to_archive
from semantic_memory.maintenance.rules import RuleJudge
from semantic_memory.maintenance.sweep import MergeDecision, SupersedeDecision, plan
from semantic_memory.models import Status
from semantic_memory.ports import Embedder
from semantic_memory.settings import load
from tests.conftest import NOW, make_fact


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder(load())


def said(*contents: str, user_id: str = "u1", days: int = 1) -> list[Fact]:
    return [
        make_fact(
            number,
            id=f"{user_id}-{number}",
            user_id=user_id,
            content=content,
            created_at=NOW + timedelta(days=days * number),
            valid_from=NOW + timedelta(days=days * number),
        )
        for number, content in enumerate(contents)
    ]


def outcome(embedder: Embedder, facts: list[Fact]) -> dict[str, Fact]:
    """The facts after one sweep, by id."""
    vectors = embedder.embed([fact.content for fact in facts], "document")
    left = {fact.id: fact for fact in facts}
    for decision in plan(facts, vectors, RuleJudge()):
        left[decision.result.id] = decision.result
        if isinstance(decision, MergeDecision):
            left |= {fact.id: fact for fact in decision.absorbed}
    return left


def active(facts: dict[str, Fact]) -> list[str]:
    return [fact.content for fact in facts.values() if fact.status is Status.ACTIVE]


FIVE_FACTS_THREE_TIMES = [
    ["The user lives in Berlin.", "The user resides in Berlin.", "The user is living in Berlin."],
    [
        "The user works at Siemens.",
        "The user is employed at Siemens.",
        "The user is working for Siemens.",
    ],
    [
        "Maya adopted a cat named Miso.",
        "Maya has adopted a cat named Miso.",
        "Maya adopted a cat called Miso.",
    ],
    [
        "The user prefers dark mode.",
        "The user likes dark mode better.",
        "The user's preference is dark mode.",
    ],
    [
        "Maya is allergic to peanuts.",
        "Maya has a peanut allergy.",
        "Maya has an allergy to peanuts.",
    ],
]


def test_fifteen_adds_of_five_facts_in_other_words_leave_five(embedder):
    facts = said(*chain.from_iterable(zip(*FIVE_FACTS_THREE_TIMES, strict=True)))
    assert len(active(outcome(embedder, facts))) == 5


def test_joining_one_company_survives_having_left_another(embedder):
    facts = said("Maya left Google.", "Maya joined Microsoft.")
    assert len(active(outcome(embedder, facts))) == 2


@pytest.mark.parametrize("wordings", FIVE_FACTS_THREE_TIMES)
def test_a_paraphrase_never_supersedes(embedder, wordings):
    left = outcome(embedder, said(*wordings))
    assert Status.SUPERSEDED not in {fact.status for fact in left.values()}


def test_two_users_with_the_same_fact_never_touch_each_other(embedder):
    facts = said("The user lives in Berlin.", "The user has a dog.") + said(
        "The user lives in Hamburg.", "The user has a dog.", user_id="u2"
    )
    vectors = embedder.embed([fact.content for fact in facts], "document")
    assert plan(facts, vectors, RuleJudge()) == []


def test_a_right_answer_of_last_year_is_not_buried_by_the_trivia_of_yesterday(embedder):
    old = make_fact(
        0,
        content="The user is allergic to penicillin.",
        category=Category.PERSONAL,
        created_at=NOW - timedelta(days=365),
    )
    trivia = [
        make_fact(
            number,
            content=f"The user talked about film number {number}.",
            category=Category.FINDING,
            created_at=NOW - timedelta(days=1),
        )
        for number in range(1, 30)
    ]
    facts = [old, *trivia]
    vectors = embedder.embed([fact.content for fact in facts], "document")
    touched = [
        decision
        for decision in plan(facts, vectors, RuleJudge())
        if isinstance(decision, SupersedeDecision)
    ]
    assert touched == []
    assert to_archive(facts, NOW) == []
    assert retention(old, NOW) == 1.0
    question = embedder.embed(["Which medicine must the user not take?"], "query")[0]
    weighed = (vectors @ question) * [retention(fact, NOW) for fact in facts]
    assert int(np.argmax(weighed)) == 0
