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
    """Return the candidates that pass the gate."""
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
        ("I'm Maya, and I live in Oslo.", ["The user's name is Maya.", "Maya lives in Oslo."]),
        (
            "I'm allergic to bees, so no hives here.",
            ["Maya is allergic to bees, so no hives here."],
        ),
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
    [
        "I love mine.",
        "I don't have time to, but I want to.",
        "It's been ages since we last talked.",
        "Both blood and the ones I choose.",
        "Maybe I can help.",
        "Hopefully I can earn more.",
        "I love it.",
        "I did that for years.",
        "She took me there.",
        "That is why I went.",
        "I do.",
    ],
)
def test_what_no_one_could_understand_alone_is_not_believed(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("She left because I can't stand garlic.", ["Maya can't stand garlic."]),
        ("you are wrong i am vegetarian", ["Maya is vegetarian."]),
        ("cool you have any pets i have 2 dogs", ["Maya has 2 dogs."]),
        ("i love baking what about you", ["Maya loves baking."]),
        ("I looooove meatloaf!!", ["Maya loves meatloaf."]),
        ("Been married 5 times.", ["Maya has been married 5 times."]),
        ("I gotta feed the fish at 5am", ["Maya has to feed the fish at 5am."]),
        ("I'm kind of a science nerd.", ["Maya is kind of a science nerd."]),
        ("Big news: I started a new diet!", ["Maya started a new diet."]),
        ("My wife and I bought a house.", ["Maya's wife and Maya bought a house."]),
    ],
)
def test_a_statement_is_found_among_what_surrounds_it(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("How do I keep my cat off the sofa?", ["Maya has a cat."]),
        ("Would my three sisters like that?", ["Maya has three sisters."]),
        ("Can you draw my dog Rex?", ["Maya has a dog, Rex."]),
        ("Which lens fits my Canon EOS 80D camera?", ["Maya has a Canon EOS 80D camera."]),
        ("Is that good for my asthma?", ["Maya has asthma."]),
        ("What does my office job say of me?", ["Maya has an office job."]),
    ],
)
def test_what_is_taken_for_granted_is_known(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "Is my dog walker late?",
        "Would my sister in law like that?",
        "Remember when my cat died?",
        "What would my future husband say?",
        "How was my day?",
        "Is my job safe?",
        "Who gets our kids to school in this country?",
    ],
)
def test_what_is_gone_wished_for_or_says_nothing_is_not_taken_for_granted(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("question", "reply", "told"),
    [
        ("What do you do for a living?", "Nurse.", "Maya works as a nurse."),
        ("Nice! How old are you?", "34", "Maya is 34."),
        ("What's your favourite colour?", "Blue!", "Maya's favourite colour is Blue."),
        ("And where do you live?", "Oslo", "Maya lives in Oslo."),
        ("Do you have any pets?", "Yes, two cats.", "Maya has two cats."),
        ("Do you like your job?", "Yes I do!", "Maya likes their job."),
        ("Do you drink coffee?", "Nope", "Maya doesn't drink coffee."),
        ("Are you married?", "No.", "Maya is not married."),
        ("Have you ever been to Rome?", "no, never", "Maya has never been to Rome."),
    ],
)
def test_an_answer_is_understood_with_its_question(question, reply, told):
    asked = Message(role="assistant", content=question)
    (answer,) = say(reply, name="Maya")
    (candidate,) = OfflineExtractor().extract([asked, answer]).candidates
    assert candidate.content == told
    assert candidate.message_ids == (answer.id, asked.id)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What do you do for a living?", "Why do you ask?"),
        ("What are your thoughts on that?", "Sounds good."),
        ("Do you like it?", "Yes!"),
        ("Do you prefer tea or coffee?", "Yes"),
        ("What's your name?", "Not telling you"),
        ("Where do you live?", "It depends"),
        ("Shall we go on?", "Yes"),
    ],
)
def test_an_answer_that_says_nothing_is_left_out(question, reply):
    asked = Message(role="assistant", content=question)
    assert OfflineExtractor().extract([asked, *say(reply)]).candidates == ()


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
        ("actually it's 5433", "corrected"),
        ("I actually meant the other one.", "corrected"),
        ("Exactly, that worked!", "confirmed"),
        ("Perfect, that works.", "confirmed"),
    ],
)
def test_corrections_and_confirmations_are_kept_with_what_they_are_about(said, kind):
    answer = Message(role="assistant", content="The port is 5432.")
    (candidate,) = OfflineExtractor().extract([answer, *say(said)]).candidates
    assert candidate.category is Category.FEEDBACK
    assert candidate.content.startswith(
        f'The user {kind} the assistant\'s answer "The port is 5432"'
    )


@pytest.mark.parametrize(
    "said", ["Don't hesitate to ask.", "No, that sounds good.", "Never give up!"]
)
def test_politeness_is_no_feedback(said):
    answer = Message(role="assistant", content="The port is 5432.")
    assert OfflineExtractor().extract([answer, *say(said)]).candidates == ()


def test_people_who_talk_to_each_other_give_no_orders_to_an_assistant():
    messages = [*say("Never give up!", name="Tom"), *say("I told you so.", start=2, name="Kim")]
    assert all(
        c.category is not Category.FEEDBACK for c in OfflineExtractor().extract(messages).candidates
    )


def test_the_other_of_two_speakers_is_named():
    messages = [
        *say("I live in Rome.", name="Tom"),
        *say("I admire your cooking a lot and I moved to your street.", start=2, name="Kim"),
    ]
    assert "Kim moved to Tom's street." in [
        c.content for c in OfflineExtractor().extract(messages).candidates
    ]


def test_facts_are_tagged_with_what_they_name():
    (candidate,) = extracted("I use Lightroom for photos of my sister.")
    assert candidate.tags == ("lightroom", "photo", "sister")
    assert extracted("I have a dog.")[0].tags == ("dog",)


def test_an_embedder_decides_where_the_wording_shows_no_category():
    said = "Spicy food is what I eat on Sundays."
    assert OfflineExtractor().extract(say(said)).candidates[0].category is Category.PERSONAL
    examples = OfflineExtractor(HashEmbedder()).extract(say(said, "I prefer tea.")).candidates
    assert examples[0].category is Category.PREFERENCE
    assert examples[1].category is Category.PREFERENCE


@pytest.mark.parametrize(
    "said",
    [
        "I gatti sono belli.",
        "¿Tienes mascotas? Sí, dos gatos.",
        "Je m'appelle Zoë et j'adore le vélo, et toi ?",
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


@pytest.mark.parametrize(
    "said",
    [
        ["我喜欢喝茶。", "我住在东京。"],
        ["Ich wohne in Berlin und mag Tee."],
        ["J'habite à Lyon avec mes enfants."],
        ["Meine Frau und ich haben zwei Hunde.", "Ich heiße Jürgen!"],
        ["Me llamo Sofía y trabajo como enfermera en Madrid."],
        ["私は看護師です。", "犬を二匹飼っています。"],
    ],
)
def test_statements_in_other_languages_are_kept_as_they_were_said(said):
    assert [fact.removeprefix("Maya: ") for fact in facts(" ".join(said))] == said
