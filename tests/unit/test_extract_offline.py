from datetime import UTC, datetime

import pytest

from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory import Candidate, Category, Message
from semantic_memory.testing import HashEmbedder
from tests.conftest import say

SAID = datetime(2026, 1, 10, tzinfo=UTC)


def extracted(*contents: str, role: str = "user", name: str | None = "Maya") -> list[Candidate]:
    messages = say(*contents, role=role, name=name, created_at=SAID)
    return list(OfflineExtractor().extract(messages).candidates)


def facts(*contents: str, name: str | None = "Maya") -> list[str]:
    """What is left behind the gate."""
    return [kept.content for kept in Gate().admit(extracted(*contents, name=name)).admitted]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("I prefer short answers with code first.", Category.PREFERENCE),
        ("I work as a storage engineer in Oslo.", Category.PERSONAL),
        ("We decided on tiered compaction for now.", Category.DECISION),
        ("I'm planning a talk about schedulers.", Category.PROJECT),
        ("Our staging cluster runs Postgres 16.", Category.TECHNICAL),
        ("We found out that reads are slow.", Category.FINDING),
        ("Please never use em dashes in text.", Category.FEEDBACK),
    ],
)
def test_statements_get_their_category(said, category):
    (candidate,) = extracted(said)
    assert candidate.category is category
    assert candidate.message_ids == ("m1",)
    assert candidate.confidence >= 0.7


def test_a_statement_is_told_of_its_speaker_with_its_date():
    assert facts("I'm moving to Berlin in March.", name=None) == [
        "The user is moving to Berlin in March 2026."
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I have a dog named Rex and work at Siemens.",
            ["Maya has a dog named Rex.", "Maya works at Siemens."],
        ),
        (
            "I love hiking, but I don't like crowds.",
            ["Maya loves hiking.", "Maya doesn't like crowds."],
        ),
        ("I like to cook and clean.", ["Maya likes to cook and clean."]),
        ("I love hiking and swimming in lakes.", ["Maya loves hiking and swimming in lakes."]),
        ("When I was young, I lived in Oslo.", ["When Maya was young, Maya lived in Oslo."]),
        ("I was fired and replaced by a robot.", ["Maya was fired and replaced by a robot."]),
    ],
)
def test_a_sentence_gives_a_fact_for_each_statement(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("i am 34 . my dog is old .", ["Maya is 34.", "Maya's dog is old."]),
        ("im a nurse in Bonn", ["Maya is a nurse in Bonn."]),
        ("Just got a new bike!! 😊", ["Maya just got a new bike."]),
        ("Working on my thesis, how about you?", ["Maya is working on their thesis."]),
        ("Hey Tom! Wow, I play the cello too.", ["Maya plays the cello."]),
        ("What is your favorite color? Mine is green.", ["Maya's favorite color is green."]),
        ("I work at a library, maybe that helps.", ["Maya works at a library."]),
        ('My coach said "I love it" to me.', ['Maya\'s coach said "I love it" to Maya.']),
    ],
)
def test_the_ways_people_write_are_understood(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "Do I like tea or coffee?",
        "Thanks a lot!",
        "The sky is blue today.",
        "I'm glad to hear that!",
        "I'm doing great, how are you?",
        "Let me know when I can help.",
        "Have a great day, see you soon!",
        "I agree.",
        "When I am not driving.",
        "```python\nI = my_list[0]\n```",
    ],
)
def test_questions_small_talk_and_the_world_are_left_out(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    "said",
    ["I love it.", "I did that for years.", "She took me there.", "That is why I went.", "I do."],
)
def test_what_no_one_could_understand_alone_is_not_believed(said):
    assert facts(said) == []


def test_what_goes_on_about_the_same_stays_with_it():
    assert facts("I have a dog. He is called Rex.") == ["Maya has a dog. He is called Rex."]
    assert facts("I moved to Bonn, my sister lives there.") == [
        "Maya moved to Bonn, their sister lives there."
    ]


def test_what_the_assistant_says_is_left_out():
    assert extracted("I prefer short answers with code first.", role="assistant") == []


@pytest.mark.parametrize("said", ["I might move to Berlin.", "I'm thinking of moving to Berlin."])
def test_a_hedge_lowers_the_confidence_below_the_gate(said):
    (candidate,) = extracted(said)
    assert Gate().admit([candidate]).refused == {"confidence": 1}


def test_saying_that_it_should_be_remembered_raises_the_confidence():
    plain, explicit = extracted("I live in Oslo.", "Please remember that I live in Oslo.")
    assert explicit.content == plain.content
    assert explicit.confidence > plain.confidence


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Please don't use tabs.", "The user asks the assistant not to use tabs."),
        (
            "Always show my code first.",
            "The user asks the assistant to always show the user's code first.",
        ),
        ("From now on, answer in German.", "The user asks the assistant to answer in German."),
    ],
)
def test_standing_orders_to_the_assistant_are_feedback(said, told):
    (candidate,) = extracted(said, name=None)
    assert (candidate.content, candidate.category) == (told, Category.FEEDBACK)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("That's wrong, the port is 5433.", "corrected"),
        ("No, I said port 5433.", "corrected"),
        ("Perfect, that works.", "confirmed"),
    ],
)
def test_corrections_and_confirmations_are_kept_with_what_they_are_about(said, kind):
    answer = Message(role="assistant", content="The port is 5432.")
    (candidate,) = OfflineExtractor().extract([answer, *say(said)])
    assert candidate.category is Category.FEEDBACK
    assert candidate.content.startswith(
        f'The user {kind} the assistant\'s answer "The port is 5432"'
    )


def test_people_who_talk_to_each_other_give_no_orders_to_an_assistant():
    messages = [*say("Never give up!", name="Tom"), *say("I told you so.", start=2, name="Kim")]
    assert all(c.category is not Category.FEEDBACK for c in OfflineExtractor().extract(messages))


def test_the_other_of_two_speakers_is_named():
    messages = [
        *say("I live in Rome.", name="Tom"),
        *say("I admire your cooking a lot and I moved to your street.", start=2, name="Kim"),
    ]
    assert "Kim moved to Tom's street." in [c.content for c in OfflineExtractor().extract(messages)]


def test_facts_are_tagged_with_what_they_name():
    (candidate,) = extracted("I use Lightroom for photos of my sister.")
    assert candidate.tags == ("lightroom", "photo", "sister")


def test_an_embedder_decides_where_the_wording_shows_no_category():
    said = "Spicy food is what I eat on Sundays."
    assert OfflineExtractor().extract(say(said))[0].category is Category.PERSONAL
    examples = OfflineExtractor(HashEmbedder()).extract(say(said, "I prefer tea."))
    assert examples[0].category is Category.PREFERENCE
    assert examples[1].category is Category.PREFERENCE


@pytest.mark.parametrize(
    "said",
    [
        "我喜欢喝茶。我住在东京。",
        "Ich wohne in Berlin und mag Tee.",
        "I gatti sono belli.",
        "J'habite à Lyon avec mes enfants.",
        "🙂" * 50,
        "I" * 5_000,
        "I " * 5_000,
        "my " * 5_000,
        "I am " * 3_000 + "a",
        '"' * 2_000,
    ],
)
def test_other_languages_and_odd_texts_do_no_harm(said):
    assert facts(said) == []
