"""Lines of a block that a later statement likely made untrue."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from semantic_memory import Message, SemanticMemory
from semantic_memory.context import render
from semantic_memory.domain.facts import Category
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.retrieval import pairs
from semantic_memory.retrieval.doubts import lifted
from semantic_memory.settings import ContextSettings, IngestSettings, Settings
from semantic_memory.testing import FrozenClock
from tests.conftest import make_fact

MONDAY = datetime(2026, 2, 2, 9, tzinfo=UTC)
OLD = "I always swim at the baths in Canal Street."
NEW = "The pool shut for good, so these days it's the lake at Ansgar for my swimming."
QUESTION = "Where do I swim?"
MARK = "perhaps changed: see 2026-03-04"


@pytest.fixture
def told(tmp_path):
    with _memory(tmp_path) as memory:
        yield memory


def _memory(path, template: str = "xml") -> SemanticMemory:
    settings = Settings(
        ingest=IngestSettings(background=False), context=ContextSettings(template=template)
    )
    clock = FrozenClock(MONDAY + timedelta(days=90))
    return SemanticMemory.open(path / "store", settings=settings, clock=clock)


def tell(memory: SemanticMemory, *said: str, sessions: bool = True) -> None:
    for number, text in enumerate(said):
        at = MONDAY + timedelta(days=30 * number)
        session = f"s{number if sessions else 0}"
        message = Message(role="user", content=text, created_at=at)
        memory.observe([message], user_id="u1", session_id=session)
    memory.flush()


def line_of(memory: SemanticMemory, words: str, question: str = QUESTION) -> str:
    block = memory.context(question, user_id="u1", budget=600).text
    return next(line for line in block.splitlines() if words in line)


def test_a_line_says_that_a_later_statement_may_have_changed_it(told):
    tell(told, OLD, NEW)
    assert line_of(told, "Canal Street").endswith(f"{MARK})")
    assert "perhaps" not in line_of(told, "Ansgar")


def test_what_says_nothing_of_the_matter_marks_nothing(told):
    tell(told, OLD, "The lake at Ansgar is lovely in the evening light.")
    assert "perhaps" not in line_of(told, "Canal Street")


def test_statements_of_one_session_mark_nothing(told):
    tell(told, OLD, NEW, sessions=False)
    assert "perhaps" not in line_of(told, "Canal Street")


def test_questions_about_the_past_show_no_mark(told):
    tell(told, OLD, NEW)
    assert "perhaps" not in line_of(told, "Canal Street", "Where did I swim in February?")


@pytest.mark.parametrize("template", ["xml", "markdown", "plain"])
def test_every_template_shows_the_mark_behind_the_text(tmp_path, template):
    with _memory(tmp_path, template) as memory:
        tell(memory, OLD, NEW)
        assert line_of(memory, "Canal Street").endswith(f"{MARK})")


def test_json_has_the_mark_as_a_member(tmp_path):
    with _memory(tmp_path, "json") as memory:
        tell(memory, OLD, NEW)
        block = json.loads(memory.context(QUESTION, user_id="u1", budget=900).text)
    memories = [one for section in block["sections"] for one in section["memories"]]
    (old,) = (one for one in memories if "Canal Street" in one["text"])
    assert old["perhaps changed"] == "2026-03-04"


def test_a_fact_shows_the_mark_behind_its_others():
    given = make_fact(1, content="Swims", category=Category.PERSONAL, confidence=0.8)
    assert render.shown(given, doubted=MONDAY) == "Swims (80%, perhaps changed: see 2026-02-02)"


def test_a_known_change_is_not_put_in_doubt():
    message = make_fact(1, content="I swim", category=Category.CONVERSATION)
    line = render.shown(message, changed=MONDAY, doubted=MONDAY)
    assert line == "user: I swim (since changed: 2026-02-02)"


def test_what_doubts_a_hit_ranks_beside_it():
    older, newer, other = _hit(1, 0.9), _hit(2, 0.1), _hit(3, 0.5)
    found = lifted([older, other, newer], {older.fact.id: newer.fact})
    assert [hit.fact for hit in found] == [older.fact, newer.fact, other.fact]
    assert lifted([older, other, newer], {}) == [older, other, newer]


def test_signs_tell_what_is_new_in_the_later_statement():
    older, newer = pairs.read("My brother drives a Volvo."), pairs.read("My sister drives a Mazda.")
    signs = pairs.signs(older, newer, 0.5)
    assert "people: 1 gone, 1 new" in signs
    assert "+mazda" in pairs.grams(older, newer)
    assert "=drives" in pairs.grams(older, newer)


def test_questions_of_a_statement_are_left_out_unless_it_is_nothing_else():
    assert "tips" not in pairs.read("I moved to Oslo. Any tips?").words
    assert "tips" in pairs.read("Any tips?").words


def _hit(number: int, score: float) -> Hit:
    parts = ScoreParts(**dict.fromkeys(ScoreParts.model_fields, 0.5))
    return Hit(fact=make_fact(number), score=score, parts=parts)
