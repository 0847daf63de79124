import pytest

from semantic_memory.domain.english.persons import third_person


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            "I'm moving to Berlin, my sister lives there.",
            "Maya is moving to Berlin, their sister lives there.",
        ),
        ("I really love dark coffee.", "Maya really loves dark coffee."),
        ("I've been painting.", "Maya has been painting."),
        ("I'd been there.", "Maya had been there."),
        ("I'd like tea.", "Maya would like tea."),
        ("I always fly and I can't swim.", "Maya always flies and Maya can't swim."),
        ("I no longer smoke.", "Maya no longer smokes."),
        ("I kind of miss it.", "Maya kind of misses it."),
        ("I feed my cat.", "Maya feeds their cat."),
        ("I found a cat and put it out.", "Maya found a cat and put it out."),
        ("I study law because I want to help.", "Maya studies law because Maya wants to help."),
        ("It was given to me.", "It was given to Maya."),
        ("It is mine.", "It is Maya's."),
        ("My wife and I live in Rome.", "Maya's wife and Maya live in Rome."),
        ("Only then did I realise it.", "Only then did Maya realise it."),
        ("We decided on our stack.", "Maya and others decided on their stack."),
        ('My boss said "I love my job" to me.', 'Maya\'s boss said "I love my job" to Maya.'),
        ("Phase I trials are my field.", "Phase I trials are Maya's field."),
        ("I moved to the us.", "Maya moved to the us."),
        ("Nothing to change here.", "Nothing to change here."),
        ("I", "Maya"),
    ],
)
def test_self_statements_are_put_in_the_third_person(said, fact):
    assert third_person(said, "Maya") == fact


def test_an_unnamed_speaker_is_the_user_in_lower_case_inside_the_sentence():
    told = third_person("When I was young, I had my own dog.", "The user")
    assert told == "When the user was young, the user had their own dog."
