"""Known mistakes of memory systems, tested on the product with a scripted judge of pairs."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain

import pytest

from semantic_memory.domain.facts import Status
from semantic_memory.judging.ports import Verdict
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import ScriptedPairJudge
from tests.support.inside import inside

U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False))
FAMILIES = [
    ["I love hiking", "The user loves hiking", "I really love hiking a lot"],
    ["I live in Berlin", "The user lives in Berlin", "I live in the city of Berlin"],
    [
        "I play tennis on weekends",
        "The user plays tennis on weekends",
        "I play tennis on weekends too",
    ],
]
CHANGES = [
    ("I live in Berlin", "I live in Munich"),
    ("I like jazz", "I don't like jazz anymore"),
    ("I own a car", "I sold the car I used to own"),
]
HOME = "live in"


def judged(older: str, newer: str):
    if any(older in family and newer in family for family in FAMILIES):
        return "same"
    return "over" if (older, newer) in CHANGES or (HOME in older and HOME in newer) else None


@pytest.fixture
def memory(open_memory):
    return open_memory(settings=SETTINGS, pair_judge=ScriptedPairJudge(judged))


@pytest.fixture
def told(memory, clock):
    """Return a function that adds facts, an hour apart by default, and returns those believed."""

    def tell(*contents, user_id="u1", hours=1.0, **values):
        for content in contents:
            memory.add(content, user_id=user_id, **values)
            clock.advance(hours=hours)
        memory.flush()
        return believed(memory, user_id)

    return tell


def believed(memory, user_id="u1"):
    return sorted(fact.content for fact in memory.list(user_id=user_id, limit=None))


def statuses(memory):
    ledger = inside(memory).ledger
    return {fact.status for fact in ledger.get(ledger.ids("u1"))}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_one_fact_in_other_words_is_one_fact(told, memory, family):
    assert len(told(*family)) == 1
    assert Status.SUPERSEDED not in statuses(memory)  # a paraphrase replaces nothing


def test_adds_of_a_few_facts_in_other_words_leave_as_many(told, memory):
    assert len(told(*chain.from_iterable(zip(*FAMILIES, strict=True)))) == len(FAMILIES)
    assert Status.SUPERSEDED not in statuses(memory)


@pytest.mark.parametrize(
    "pair",
    [
        ("I'm allergic to peanuts", "I'm allergic to cashews"),
        ("I have a dog named Max", "I have a dog named Rex"),
        ("I work at Google", "I work at Google in Paris"),
    ],
)
def test_what_is_judged_to_stand_stays(told, pair):
    assert told(*pair, hours=30) == sorted(pair)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_has_changed_is_replaced_and_answers_what_was_believed(told, memory, clock, old, new):
    then = clock.now() + timedelta(hours=1)
    assert told(old, new, hours=24 * 30) == [new]
    assert [hit.fact.content for hit in memory.search(old, **U, as_of=then)] == [old]


def test_a_chain_of_changes_is_told_and_each_link_can_be_restored(told, memory, clock):
    cities = ["I live in Bergen", "I live in Oslo now", "I live in Turin"]
    moments = [clock.now() + timedelta(days=30 * number, hours=1) for number in range(3)]
    assert told(*cities, hours=24 * 30) == cities[2:]
    for city, moment in zip(cities, moments, strict=True):
        (hit,) = memory.search("where do I live", **U, as_of=moment)
        assert hit.fact.content == city
    first = memory.search("where do I live", **U, as_of=moments[0])[0].fact
    second = memory.get(first.superseded_by)
    assert (second.content, memory.get(second.superseded_by).content) == tuple(cities[1:])
    assert [step.action for step in memory.history.versions(first.id)] == ["added", "superseded"]
    memory.history.restore(first.id)
    memory.flush()
    memory.jobs.run()
    assert believed(memory) == sorted([cities[0], cities[2]])


def test_two_users_with_the_same_facts_never_touch_each_other(told, memory):
    told("I live in Berlin", "I love hiking")
    told("I live in Hamburg", "The user loves hiking", user_id="u2")
    memory.jobs.run()
    assert believed(memory) == ["I live in Berlin", "I love hiking"]
    assert believed(memory, "u2") == ["I live in Hamburg", "The user loves hiking"]


def test_a_right_answer_of_last_year_is_not_buried_by_the_trivia_of_yesterday(told, memory, clock):
    told("The user is allergic to penicillin", category="personal")
    clock.advance(days=365)
    told(
        *(f"The user talked about the film {name}" for name in "Alien Brazil Casino Dune".split()),
        *(f"The user bought {thing}" for thing in ("aspirin", "a coat", "food for the cat")),
        category="finding",
    )
    memory.jobs.run()
    hit = memory.search("Is the user allergic to any medicine?", **U)[0]
    assert hit.fact.content == "The user is allergic to penicillin"
    assert hit.parts.retention == 1.0


def test_of_equally_sure_facts_of_one_time_the_last_is_believed(memory, clock):
    said = clock.now()
    for city in ("Rome", "Bonn", "Oslo"):
        memory.add(f"I live in {city}", **U, created_at=said)
        clock.advance(seconds=1)
    memory.flush()
    assert believed(memory) == ["I live in Oslo"]


def test_what_fades_comes_back_and_what_is_pinned_never_goes(told, memory, clock):
    told("The beta ships in May", category="project", confidence=0.35)
    told("The alpha shipped in March", category="project", confidence=0.35, tags=["pinned"])
    clock.advance(weeks=10)
    memory.jobs.run(["decay"])
    assert believed(memory) == ["The alpha shipped in March"]
    ledger = inside(memory).ledger
    (gone,) = [f for f in ledger.get(ledger.ids("u1")) if f.status is Status.ARCHIVED]
    memory.history.restore(gone.id)
    clock.advance(weeks=1)
    memory.jobs.run()
    assert len(believed(memory)) == 2


class Likely:
    """Finds it likely that whatever is said later changes what was said before."""

    def judge(self, pairs):
        return [Verdict(0.9, 0.0, "scripted") for _ in pairs]


def test_what_may_change_an_older_statement_is_found_above_it_if_it_answers(open_memory, clock):
    memory = open_memory(settings=SETTINGS, pair_judge=Likely())
    older = memory.add("The user plays the cello in the orchestra of the town, since 2019", **U)
    clock.advance(days=9)
    newer = memory.add("The user plays the viola now", **U)
    memory.flush()
    assert memory.get(newer.id).follows == (older.id,)

    def found(question):
        return [hit.fact.id for hit in memory.search(question, **U)]

    assert found("What does the user play in the orchestra of the town?") == [newer.id, older.id]
    assert found("Which town has an orchestra since 2019?") == [older.id, newer.id]
    assert found("What did the user play in the orchestra of the town in 2019?")[0] == older.id
