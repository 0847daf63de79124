"""Known mistakes of memory systems, tested on the product with its embedding model."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain, permutations

import pytest

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.facts import Status
from semantic_memory.domain.ports import Embedder
from semantic_memory.settings import Settings, UpkeepSettings, load
from tests.support.inside import inside

U = {"user_id": "u1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder(load())


@pytest.fixture
def memory(open_memory, embedder):
    return open_memory(embedder=embedder, settings=SETTINGS)


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


FAMILIES = [
    ["I love hiking", "The user loves hiking", "Loves to go hiking"],
    ["I love hiking.", "User enjoys hiking.", "I really love going hiking."],
    ["I live in Berlin.", "My home is in Berlin.", "I'm based in Berlin."],
    ["The user lives in Berlin.", "The user resides in Berlin.", "I live in Berlin"],
    ["I work at Google", "The user works at Google", "Works for Google"],
    ["I work at Google.", "I'm employed at Google.", "My employer is Google."],
    ["I have a dog named Max", "The user has a dog named Max", "My dog is called Max"],
    ["Maya adopted a cat named Miso.", "Maya has adopted a cat named Miso."],
    ["I'm allergic to peanuts", "The user is allergic to peanuts", "Has a peanut allergy"],
    ["Maya is allergic to peanuts.", "Maya has a peanut allergy."],
    ["I prefer Python over Java", "The user prefers Python to Java", "Likes Python more than Java"],
    ["The user prefers dark mode.", "The user's preference is dark mode.", "I prefer dark mode"],
    ["My favorite color is blue", "Favourite colour is blue", "Blue is my favorite color."],
    ["I'm vegetarian", "The user is a vegetarian", "Is vegetarian"],
    ["I'm a software engineer", "The user is a software engineer", "Works as a software engineer"],
    ["I have two kids", "The user has two children", "I have 2 kids"],
    ["I speak Spanish", "The user speaks Spanish", "Can speak Spanish"],
    ["I'm learning to play the guitar.", "The user is learning the guitar."],
    [
        "I play tennis on weekends",
        "The user plays tennis on weekends",
        "Plays tennis at the weekend",
    ],
    [
        "I hate mushrooms",
        "The user hates mushrooms",
        "Dislikes mushrooms",
        "I don't like mushrooms",
    ],
    ["My wife's name is Anna", "The user's wife is named Anna", "My wife is called Anna"],
    ["I go to the gym every day", "The user goes to the gym daily", "Goes to the gym each day"],
    ["I was born in Paris", "The user was born in Paris", "Born in Paris"],
    ["My birthday is on March 5", "The user's birthday is March 5", "I was born on March 5"],
    ["I have been living in Madrid since 2019", "The user has lived in Madrid since 2019"],
    ["I can't swim", "The user can't swim", "Does not know how to swim"],
    ["I'm 34 years old", "The user is 34 years old", "Is 34"],
    ["I wake up at 6am", "The user wakes up at 6 am", "Gets up at 6am"],
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_one_fact_in_other_words_is_one_fact(told, memory, family):
    assert len(told(*family)) == 1
    assert Status.SUPERSEDED not in statuses(memory)  # a paraphrase replaces nothing


def test_fifteen_adds_of_five_facts_in_other_words_leave_five(told, memory):
    five = [FAMILIES[number] for number in (0, 2, 4, 8, 18)]
    assert len(told(*chain.from_iterable(zip(*(one[:3] for one in five), strict=True)))) == 5
    assert Status.SUPERSEDED not in statuses(memory)


APART = [
    ("I left Google", "I joined Microsoft"),
    ("Maya left Google.", "Maya joined Microsoft."),
    ("likes jazz", "likes rock"),
    ("The user likes jazz", "The user likes rock"),
    ("I love hiking", "I love biking"),
    ("I don't like fish", "I like fishing"),
    ("I like watching football", "I like playing football"),
    ("The user likes hiking in the mountains", "The user likes hiking by the sea"),
    ("I have a dog named Max", "I have a dog named Rex"),
    ("I visited Rome in May", "I visited Paris in June"),
    ("I went hiking on Monday", "I went hiking on Tuesday"),
    ("I ran a marathon in 2019", "I ran a marathon in 2021"),
    ("I live in Berlin", "My brother lives in Berlin"),
    ("I'm allergic to peanuts", "My son is allergic to peanuts"),
    ("I taught Maya to swim", "Maya taught me to swim"),
    ("I want to visit Japan", "I visited Japan"),
    ("I wake up at 6am", "I eat dinner at 6pm"),
    ("I like hiking", "I don't like running"),
    ("I can't wait for the weekend", "I have some weekend plans"),
]


@pytest.mark.parametrize("pair", APART, ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_different_facts_both_stay(told, pair):
    assert told(*pair, hours=30) == sorted(pair)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("I work at Google", "I work at Google in Berlin"),
        ("I work at Siemens", "I work at Siemens as an engineer"),
        ("I have a dog", "I have a dog named Max"),
        ("I like pizza", "I like pizza with mushrooms"),
    ],
)
def test_a_refinement_loses_nothing(told, memory, less, more):
    assert more in told(less, more, hours=30)
    assert Status.SUPERSEDED not in statuses(memory)


CHANGES = [
    ("I live in Berlin", "I moved to Munich"),
    ("The user lives in Berlin", "The user lives in Hamburg"),
    ("I work at Google", "I now work at Meta"),
    ("I'm vegetarian", "I'm not vegetarian anymore"),
    ("I like jazz", "I don't like jazz anymore"),
    ("My favorite color is blue", "My favorite color is green"),
    ("The deadline is May 5", "The deadline was moved to May 12"),
    ("I use VS Code", "I switched from VS Code to Neovim"),
    ("I have a car", "I sold my car"),
    ("I'm 34 years old", "I'm 35 years old"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_has_changed_is_replaced_and_answers_what_was_believed(told, memory, clock, old, new):
    then = clock.now() + timedelta(hours=1)
    assert told(old, new, hours=24 * 30) == [new]
    assert [hit.fact.content for hit in memory.search(old, **U, as_of=then)] == [old]


def test_a_chain_of_changes_is_told_and_each_link_can_be_restored(told, memory, clock):
    cities = ["I live in Bergen", "I moved to Oslo", "I moved to Turin"]
    moments = [clock.now() + timedelta(days=30 * number, hours=1) for number in range(3)]
    assert told(*cities, hours=24 * 30) == cities[2:]
    for city, moment in zip(cities, moments, strict=True):
        (hit,) = memory.search("where do I live", **U, as_of=moment)
        assert hit.fact.content == city
    first = memory.search("where do I live", **U, as_of=moments[0])[0].fact
    second = memory.get(first.superseded_by)
    assert (second.content, memory.get(second.superseded_by).content) == tuple(cities[1:])
    assert [step.action for step in memory.history(first.id)] == ["added", "superseded"]
    memory.restore(first.id)
    memory.flush()
    memory.maintain()
    assert believed(memory) == sorted([cities[0], cities[2]])


def test_two_users_with_the_same_facts_never_touch_each_other(told, memory):
    told("I live in Berlin", "I have a dog")
    told("I live in Hamburg", "The user has a dog", user_id="u2")
    memory.maintain()
    assert believed(memory) == ["I have a dog", "I live in Berlin"]
    assert believed(memory, "u2") == ["I live in Hamburg", "The user has a dog"]


def test_a_right_answer_of_last_year_is_not_buried_by_the_trivia_of_yesterday(told, memory, clock):
    told("The user is allergic to penicillin", category="personal")
    clock.advance(days=365)
    told(
        *(f"The user talked about the film {name}" for name in "Alien Brazil Casino Dune".split()),
        *(f"The user bought {thing}" for thing in ("aspirin", "a coat", "food for the cat")),
        category="finding",
    )
    memory.maintain()
    hit = memory.search("Which medicine must the user not take?", **U)[0]
    assert hit.fact.content == "The user is allergic to penicillin"
    assert hit.parts.retention == 1.0


def test_what_the_user_corrects_wins_over_what_was_said_at_the_same_time(memory):
    for content, confidence in (
        ("I live in Rome", 0.9),
        ("Actually, I live in Bonn", 0.8),
        ("I live in Oslo", 0.7),
    ):
        memory.add(content, **U, confidence=confidence)
    memory.flush()
    assert believed(memory) == ["Actually, I live in Bonn"]


@pytest.mark.parametrize("order", list(permutations([0.7, 0.8, 0.9])))
def test_of_conflicting_facts_of_one_time_the_surest_is_believed(memory, order):
    cities = {0.7: "Rome", 0.8: "Bonn", 0.9: "Oslo"}
    for confidence in order:
        memory.add(f"I live in {cities[confidence]}", **U, confidence=confidence)
    memory.flush()
    assert believed(memory) == ["I live in Oslo"]


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
    memory.maintain(["decay"])
    assert believed(memory) == ["The alpha shipped in March"]
    ledger = inside(memory).ledger
    (gone,) = [f for f in ledger.get(ledger.ids("u1")) if f.status is Status.ARCHIVED]
    memory.restore(gone.id)
    clock.advance(weeks=1)
    memory.maintain()
    assert len(believed(memory)) == 2
