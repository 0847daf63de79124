"""Statements in the third person, where that is certain."""

import pytest

from semantic_memory.language.persons import third_person


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm moving, my sister lives there", "Maya is moving, their sister lives there"),
        ("I'd been there", "Maya had been there"),
        ("I'd like tea", "Maya would like tea"),
        ("I no longer smoke", "Maya no longer smokes"),
        ("I cook and clean", "Maya cooks and cleans"),
        ("It was given to me", "It was given to Maya"),
        ("when i was young i had my own dog", "When Maya was young they had their own dog"),
        ("My wife and I live in Rome", "Maya's wife and Maya live in Rome"),
        ("We decided on our stack", "Maya and others decided on their stack"),
        ("The doctor told me I was fine", "The doctor told Maya they were fine"),
    ],
)  # fmt: skip
def test_a_statement_is_told_of_its_speaker(said: str, fact: str) -> None:
    assert third_person(said, "Maya") == fact


def test_the_user_is_in_lower_case_inside_the_sentence() -> None:
    assert third_person("Yesterday I ran", "The user") == "Yesterday the user ran"


def test_quotations_and_code_keep_their_words() -> None:
    told = third_person('I sang "My Way" and ran `i.my_me()`', "Maya")
    assert told == 'Maya sang "My Way" and ran `i.my_me()`'


@pytest.mark.parametrize(
    "said",
    [
        "I bought it at Toys R Us",
        "I drive a Mustang I V2",
        "I moved to the us",
        "I watched Call Me by Your Name",
        "I work in a data mine",
        "I live on I-95",
        "Only then did I see it",
        "I def agree",
        "i cant swim",
        "I told them about my mother",
    ],
)
def test_words_stay_where_the_third_person_isnt_certain(said: str) -> None:
    assert third_person(said, "Maya") is None
