"""A sentence that states two things of its speaker: an update of one leaves the other in the core.

With the packaged judges and embedder, since they read the sentences.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest

from semantic_memory import Message, SemanticMemory
from semantic_memory.testing import InMemoryIndex
from tests.conftest import NOW

CASES = [
    ("I'm vegetarian, and I'm allergic to peanuts", "I eat fish again since last week", "peanuts"),
    ("I'm vegan and allergic to sesame", "I started eating eggs again in May", "sesame"),
    ("I'm allergic to penicillin and I take metformin", "I stopped taking metformin", "penicillin"),
    ("I have a latex allergy and take lisinopril", "I switched to losartan", "latex"),
    ("I'm allergic to bee stings and I live in Turin", "I live in Milan now", "bee stings"),
    ("I live in Leeds and I work as a nurse", "I moved to York last month", "nurse"),
    ("I live in Graz and work as a carpenter", "I moved to Linz", "carpenter"),
    ("I'm a baker and I live in Ghent", "I got a new job as a school cook", "Ghent"),
    pytest.param(
        "My wife is called Ana, and I work at Siemens",
        "I left Siemens for Bosch",
        "Ana",
        marks=pytest.mark.xfail(reason="the judge reads no attribute of the user in the name"),
    ),
    ("I have a cat named Miso and my girlfriend is Lena", "Lena and I broke up", "Miso"),
    ("My name is Petra and I live in Bonn", "I moved to Kiel", "Petra"),
    ("I'm Marek, I work as a welder", "I changed jobs, I drive a bus now", "Marek"),
    ("I'm diabetic and I don't eat pork", "I eat pork again", "diabetic"),
    ("I have coeliac disease and I'm allergic to walnuts", "I eat bread again", "walnuts"),
    ("I speak Polish and I live in Lyon", "I moved to Nice", "Polish"),
    ("I have asthma and my dog is called Rufus", "Rufus died last week", "asthma"),
    ("I'm kosher, and I'm allergic to kiwi", "I no longer keep kosher", "kiwi"),
    ("My pronouns are they/them and I work for Ikea", "I quit Ikea", "they/them"),
]
ONE_CLAUSE = [
    ("I'm a vegetarian with a severe peanut allergy", "I eat fish again since last week", "peanut"),
    ("I'm vegetarian and allergic to soy", "I eat fish again since last week", "soy"),
    ("I'm diabetic and don't eat pork", "I eat pork now", "diabetic"),
    pytest.param(
        "I'm an electrician living in Malmö",
        "I work as a teacher now",
        "Malmö",
        marks=pytest.mark.xfail(reason="the judge reads the job alone"),
    ),
    ("I'm an electrician living in Bergen", "I live in Oslo now", "electrician"),
]
USERS = count()
QUESTIONS = (
    "Book me a hotel in Lisbon",
    "What should I cook for dinner?",
    "Tell me about my allergies and diet",
    "Where do I live and work?",
    "Who is in my family?",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SemanticMemory]:
    path = tmp_path_factory.mktemp("two-statements")
    with SemanticMemory.open(path, index=InMemoryIndex()) as opened:
        yield opened


def told(memory: SemanticMemory, *said: str) -> str:
    user = f"u{next(USERS)}"
    for day, text in enumerate(said):
        at = NOW + timedelta(days=day)
        message = Message(id=f"m{day}", role="user", content=f"{text}.", created_at=at)
        memory.observe([message], user_id=user, session_id=f"s{day}")
    memory.flush()
    return user


def core(memory: SemanticMemory, user: str, question: str) -> str:
    block = memory.context(question, user_id=user, budget=1_000).text
    return block.partition("<core>")[2].partition("</core>")[0]


@pytest.mark.parametrize(("said", "update", "stays"), [*CASES, *ONE_CLAUSE])
def test_an_update_of_one_statement_leaves_the_other_in_the_core(memory, said, update, stays):
    user = told(memory, said, update)
    assert [one for one in QUESTIONS if stays not in core(memory, user, one)] == []


@pytest.mark.parametrize(
    ("said", "update", "question", "leaves"),
    [
        ("I'm vegetarian", "I had chicken and steak all week", QUESTIONS[1], "vegetarian"),
        ("I'm a nurse, and I live in Ghent", "We live in Galway now", QUESTIONS[3], "Ghent"),
    ],
)
def test_an_old_value_leaves_the_core_for_a_newer_one(memory, said, update, question, leaves):
    user = told(memory, said, update)
    assert leaves not in core(memory, user, question)


@pytest.mark.parametrize(
    ("said", "of_another", "stays"),
    [
        ("I live in Leeds", "My sister moved to York last month", "Leeds"),
        ("I'm vegetarian", "My brother is vegan", "vegetarian"),
        ("I work as a welder", "My cousin works as a nurse", "welder"),
        ("I live in Bath", "My friend Jo lives in Paris", "Bath"),
        pytest.param(
            "I'm diabetic and I live in Hull",
            "My mother lives in Kent",
            "Hull",
            marks=pytest.mark.xfail(reason="the judge is unsure which of both is stated"),
        ),
    ],
)
def test_what_holds_of_another_person_displaces_nothing(memory, said, of_another, stays):
    user = told(memory, said, of_another)
    assert [one for one in QUESTIONS if stays not in core(memory, user, one)] == []


@pytest.mark.parametrize(
    "said",
    [
        "I live in Leeds with my husband Tom and our dog Biscuit",
        "I live in Cork with my wife",
        "We live in York with our two kids and a cat",
        "My wife and I live in Rome",
        "My husband and I are vegan",
    ],
)
def test_a_statement_of_the_owner_with_others_is_core(memory, said):
    user = told(memory, said)
    assert said.split()[-1] in core(memory, user, QUESTIONS[0])


def test_an_order_stays_an_order_beside_newer_messages(memory):
    user = told(memory, "From now on call me Dr. Weber", "Don't tell me jokes, ever", "Shorter")
    for question in ("Good morning!", *QUESTIONS):
        block = memory.context(question, user_id=user, budget=1_000).text
        orders = block.partition("<instructions>")[2].partition("</instructions>")[0]
        assert "Weber" in orders
        assert "jokes" in orders


def test_a_statement_said_again_stays_in_the_core(memory):
    user = told(memory, "I'm Lena and I use they/them", "I'm Lena. I use they/them")
    assert "Lena" in core(memory, user, "Good morning!")
