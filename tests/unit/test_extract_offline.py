import pytest

from ingest.extract.offline import OfflineExtractor
from ingest.extract.third_person import third_person
from ingest.gate import Gate
from semantic_memory import Candidate, Category
from tests.conftest import say


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            "I'm moving to Berlin, my sister lives there.",
            "Maya is moving to Berlin, Maya's sister lives there.",
        ),
        (
            "I really love dark coffee and I have two cats.",
            "Maya really loves dark coffee and Maya has two cats.",
        ),
        ("I've been painting.", "Maya has been painting."),
        ("I'd been there.", "Maya had been there."),
        ("I'd like tea.", "Maya would like tea."),
        ("I study law because I want to help.", "Maya studies law because Maya wants to help."),
        (
            "I was born in Oslo and I don't like it.",
            "Maya was born in Oslo and Maya doesn't like it.",
        ),
        ("It was given to me, it is mine.", "It was given to Maya, it is Maya's."),
        ("Nothing to change here.", "Nothing to change here."),
        ("I", "Maya"),
    ],
)
def test_self_statements_are_put_in_the_third_person(said, fact):
    assert third_person(said, "Maya") == fact


def extracted(*contents: str, role: str = "user") -> list[Candidate]:
    return list(OfflineExtractor().extract(say(*contents, role=role, name="Maya")).candidates)


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


@pytest.mark.parametrize(
    "said", ["Do I like tea or coffee?", "Thanks a lot!", "The sky is blue today."]
)
def test_questions_small_talk_and_the_world_are_left_out(said):
    assert extracted(said) == []


def test_what_the_assistant_says_is_left_out():
    assert extracted("I prefer short answers with code first.", role="assistant") == []


def test_a_hedge_lowers_the_confidence_below_the_gate():
    (candidate,) = extracted("I might move to Berlin, I live alone.")
    admitted, refused = Gate().admit([candidate])
    assert admitted == []
    assert refused == {"confidence": 1}


def test_the_gate_keeps_the_category_of_messages_for_messages():
    candidate = Candidate(content="x", category="conversation", confidence=1, message_ids=("m1",))
    assert Gate().admit([candidate])[1] == {"category": 1}


@pytest.mark.parametrize(
    "said", ["我喜欢喝茶。我住在东京。", "Ich wohne in Berlin und mag Tee.", "🙂" * 50, "I" * 5_000]
)
def test_other_languages_and_odd_texts_do_no_harm(said):
    extracted(said)
