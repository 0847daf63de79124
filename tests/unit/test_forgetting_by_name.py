"""`forget(entity=, query=)` takes what is meant: of the same owner, person and subject."""

from __future__ import annotations

from typing import Any

import pytest

from semantic_memory import InvalidInputError, SemanticMemory

U: dict[str, Any] = {"user_id": "u1"}
FACTS = (
    "The user lives in Oslo",
    "The user's sister lives in Bergen",
    "The user moved to a flat on Elm Street",
    "The user has diabetes",
    "The user's mother has diabetes",
    "The user works at Siemens as an engineer",
    "My brother works at Shell",
    "The user earns 4,000 a month",
    "The user was diagnosed with asthma",
    "The user likes pasta",
    "Anna Berg is a lawyer",
    "Berg called about the contract",
    "Anna likes tea",
    "Annabel likes cake",
    "Anna-Lena plays chess",
    "Tom Holm plays golf",
    "Eva Holm plays tennis",
    "The user will travel to Rome",
    "Will came for dinner",
    "The user plays the cello",
    "The ferry leaves at nine",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with SemanticMemory.open(tmp_path_factory.mktemp("told") / "store") as memory:
        memory.transfer.add_many([{"content": one} for one in FACTS], **U)
        memory.flush()
        yield memory


def meant(memory: Any, **what: str) -> set[str]:
    return {fact.content for fact in memory.forget(**U, **what, dry_run=True).memories}


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        ("where I live", {FACTS[0], FACTS[2]}),
        ("my sister's home", {FACTS[1]}),
        ("my diabetes", {FACTS[3]}),
        ("my mother's diabetes", {FACTS[4]}),
        ("my job", {FACTS[5]}),
        ("money", {FACTS[7]}),
        ("health", {FACTS[3], FACTS[8]}),
        ("meine Gesundheit", {FACTS[3], FACTS[8]}),
        ("my salary", {FACTS[7]}),
        ("my debts", set()),
    ],
)
def test_a_query_takes_what_its_owner_says_of_the_subject(told, query: str, taken: set[str]):
    assert meant(told, query=query) == taken


@pytest.mark.parametrize(
    ("entity", "taken"),
    [
        ("Anna", {*FACTS[10:13]}),
        ("Anna Berg", {*FACTS[10:13]}),
        ("Tom Holm", {FACTS[15]}),
        ("Holm", {*FACTS[15:17]}),
        ("Annabel", {FACTS[13]}),
    ],
)
def test_a_person_is_named_by_the_whole_name_and_by_parts_nobody_else_has(told, entity, taken):
    assert meant(told, entity=entity) == taken


@pytest.mark.parametrize("entity", ["the", "Will", "and"])
def test_a_common_word_is_refused_without_force(told, entity: str):
    assert "common word" in told.forget(**U, entity=entity, dry_run=True).warning
    with pytest.raises(InvalidInputError, match="common word"):
        told.forget(**U, entity=entity)
    assert len(told.list(**U, limit=None)) == len(FACTS)


def test_more_than_a_third_of_a_user_is_refused_without_force(open_memory):
    memory = open_memory()
    memory.transfer.add_many([{"content": f"Ruben told joke number {n}"} for n in range(6)], **U)
    memory.transfer.add_many([{"content": f"Plays song number {n}"} for n in range(6)], **U)
    with pytest.raises(InvalidInputError, match="6 of the user's 12"):
        memory.forget(**U, entity="Ruben")
    assert memory.forget(**U, entity="Ruben", dry_run=True).warning
    assert memory.forget(**U, entity="Ruben", force=True) == 6


OTHERS = (
    "The user lives in Oslo",
    "Anna Weber moved to Rome",
    "The user's ex is called Mark",
    "Mark Twain is the user's favourite author",
    "The user votes for the Greens",
    "The user goes to church every Sunday",
)


@pytest.mark.parametrize(
    ("what", "taken"),
    [
        ({"query": "where I live"}, {OTHERS[0]}),
        ({"query": "politics"}, {OTHERS[4]}),
        ({"entity": "Mark Twain"}, {OTHERS[3]}),
    ],
)
def test_what_is_another_persons_or_subjects_stays(open_memory, what, taken):
    memory = open_memory()
    memory.transfer.add_many([{"content": one} for one in OTHERS], **U)
    assert meant(memory, **what) == taken


def test_a_verb_in_lower_case_is_a_common_word(open_memory):
    memory = open_memory()
    memory.add("I like tea", **U)
    with pytest.raises(InvalidInputError, match="common word"):
        memory.forget(**U, entity="like")


def test_texts_written_by_hand_stay_and_are_listed(open_memory):
    memory = open_memory()
    memory.add("Ruben is a friend", **U)
    memory.profile.update({"personal_context": "Friends with Ruben."}, **U)
    memory.items.put(["notes"], "first", {"text": "Call Ruben"}, **U)
    memory.items.put(["notes"], "second", {"text": "Call Maya"}, **U)
    listed = ("profile personal_context", "item notes/first")
    assert memory.forget(**U, entity="Ruben", dry_run=True).kept_in == listed
    assert memory.forget(**U, entity="Ruben").kept_in == listed
    assert memory.forget(**U, query="my job").kept_in == ()
