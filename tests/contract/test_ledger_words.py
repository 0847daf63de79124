"""Finding memories by words: the contract of every ledger."""

import pytest

from semantic_memory.domain.changes import Add, Forget, Update
from semantic_memory.domain.facts import Source
from semantic_memory.domain.filters import Filters
from tests.conftest import NOW, make_fact


def test_words_find_inflections_and_only_the_users_own(ledger):
    ledger.apply(
        [
            Add(make_fact(1, content="Painted a sunrise")),
            Add(make_fact(2, user_id="u2", content="Paints walls")),
        ]
    )
    assert [match.id for match in ledger.words("u1", ["painting"], limit=5)] == ["fact-1"]
    assert [match.id for match in ledger.words("u2", ["painting"], limit=5)] == ["fact-2"]


@pytest.mark.parametrize("term", ['"', "a OR b", "NEAR(", "*", "text:x", "ü"])
def test_any_word_can_be_asked_for(ledger, term):
    ledger.apply([Add(make_fact())])
    assert ledger.words("u1", [term], limit=5) == []


def test_words_follow_an_update(ledger):
    ledger.apply([Add(make_fact(content="Lives in Oslo"))])
    ledger.apply([Update(make_fact(content="Lives in Berlin"), "updated", NOW)])
    assert ledger.words("u1", ["oslo"], limit=5) == []
    assert len(ledger.words("u1", ["berlin"], limit=5)) == 1


def test_document_frequencies_count_stemmed_words_of_one_user_or_shared_out_among_all(ledger):
    texts = ["Painting", "painted walls", "A wall", "Tea"]
    ledger.apply([Add(make_fact(n, content=text)) for n, text in enumerate(texts)])
    terms = ["paint", "wall", "zebra"]
    assert ledger.document_frequencies("u1", terms) == (4, {"paint": 2.0, "wall": 2.0})
    ledger.apply([Add(make_fact(n, content="Walls", user_id="u2")) for n in range(10, 14)])
    shared, own = {"paint": 1.0, "wall": 3.0}, {"paint": 2.0, "wall": 2.0}
    assert ledger.document_frequencies("u1", terms) in [(4, shared), (4, own)]
    number, frequencies = ledger.document_frequencies("nobody", terms)
    assert (number, sum(frequencies.values())) == (0, 0.0)


def found(ledger, *terms, **options) -> list[str]:
    return [match.id for match in ledger.words("u1", terms, **{"limit": 9, **options})]


def test_words_rank_by_bm25(ledger):
    texts = {
        1: "tea",
        2: "tea and a long walk through the old town by the river",
        3: "tea, tea and more tea",
        4: "tea with saffron",
        5: "coffee",
        6: "coffee with milk",
        7: "a walk",
        8: "milk",
        9: "bread",
    }
    ledger.apply([Add(make_fact(n, content=text)) for n, text in texts.items()])
    assert found(ledger, "tea")[0] == "fact-3"  # holds it most often
    assert found(ledger, "tea")[-1] == "fact-2"  # is the longest
    assert found(ledger, "coffee", "saffron")[0] == "fact-4"  # the rarer word
    assert found(ledger, "coffee", "milk")[0] == "fact-6"  # more of the words
    assert set(found(ledger, "tea")) == {f"fact-{n}" for n in (1, 2, 3, 4)}
    scores = [match.similarity for match in ledger.words("u1", ["tea", "milk"], limit=9)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert found(ledger, "tea", limit=2) == found(ledger, "tea")[:2]
    assert found(ledger) == []


def test_words_are_narrowed_by_filters(ledger):
    for number, category in enumerate(["preference", "project", "project"], start=1):
        ledger.apply([Add(make_fact(number, category=category, tags=(f"t{number}",)))])
    assert set(found(ledger, "thing", filters=Filters(categories={"project"}))) == {
        "fact-2",
        "fact-3",
    }
    assert found(ledger, "thing", filters=Filters(tags=("t2",)), limit=1) == ["fact-2"]


def test_words_find_the_day_and_the_speaker(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, source=Source(speaker="Melanie")))])
    assert found(ledger, "melanie") == ["fact-2"]
    assert set(found(ledger, "may")) == {"fact-1", "fact-2"}


def test_words_of_the_forgotten_count_until_they_are_erased(ledger):
    ledger.apply([Add(make_fact(1, content="Tea")), Add(make_fact(2, content="Tea"))])
    ledger.apply([Forget("fact-1", NOW)])
    assert ledger.document_frequencies("u1", ["tea"]) == (1, {"tea": 1.0})
    ledger.erase()
    assert ledger.document_frequencies("u1", ["tea"]) == (1, {"tea": 0.5})
    assert found(ledger, "tea") == ["fact-2"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("*script", {"fact-1"}),
        ("a?th*", {"fact-2"}),
        ("?uthn", {"fact-2"}),
        ("t*pt", {"fact-1"}),
        ("caf?", set()),  # a question mark ends a word
        ("ca?é", {"fact-3"}),
        ('"open* *afé"', set()),  # "a" stands between them
        ('"open* a *afé"', {"fact-3"}),
        ("-*script -*uth*", {"fact-3", "fact-4"}),
    ],
)
def test_patterns_of_words_find_what_they_match_and_only_the_users_own(ledger, asked, found):
    texts = ["Learns TypeScript", "Set up authn", "Opens a café", "東京都"]
    ledger.apply([Add(make_fact(n, content=text)) for n, text in enumerate(texts, 1)])
    ledger.apply([Add(make_fact(9, user_id="u2", content="JavaScript authn café"))])
    assert set(ledger.ids("u1", Filters.of(asked))) == found
