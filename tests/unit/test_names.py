import pytest

from semantic_memory.retrieval.names import named, without


def test_a_speaker_is_named_by_any_part_of_the_name():
    assert named("What did fahim say?", ["Fahim Khan", "Muhhamed"]) == [0]
    assert named("Khan's hobbies", ["Fahim Khan"]) == [0]


def test_a_word_that_contains_a_name_names_nobody():
    assert named("What did Annabel do?", ["Anna"]) == []


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("What did Caroline research?", "What did research?"),
        ("Caroline's identity", "identity"),
        ("When did CAROLINE paint?", "When did paint?"),
        ("Caroline", "Caroline"),
        ("Caroline?", "Caroline?"),
    ],
)
def test_names_are_left_out_of_what_is_embedded(query, rest):
    assert without(query, ["Caroline"]) == rest


def test_names_with_marks_of_regular_expressions_are_harmless():
    assert without("ask C++ dev", ["C++ (dev)"]) == "ask C++"
