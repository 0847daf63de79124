"""Questions for an attribute of a person, and the facts that state it."""

import json
from datetime import UTC, datetime

import pytest

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.readings import Reading
from semantic_memory.retrieval.asked import GAIN, Asked, QuestionReader, gains, load, reader_for
from semantic_memory.settings import Settings
from training import data, questions

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def fact(
    name: str, slot: str, about: str = "self", sure: float = 0.9, **other_slots: float
) -> Fact:
    reading = Reading(
        judge="tests", keep=1, task=0, alone=1, about=about, about_self=1, kind="state",
        kind_probability=1, standing_order=0, slot=slot, slot_probability=sure,
        other_slots=other_slots, category="personal", category_probability=1,
    )  # fmt: skip
    return Fact(
        id=name, user_id="u1", content=name, category=Category.PERSONAL, created_at=NOW,
        recorded_at=NOW, valid_from=NOW, reading=reading,
    )  # fmt: skip


@pytest.fixture(scope="module")
def embedder():
    return make_embedder(Settings())


@pytest.fixture(scope="module")
def reader(embedder) -> QuestionReader:
    found = reader_for(embedder.identity.model)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "slot", "about"),
    [
        ("which town is Priya based in these days?", "home", "self"),
        ("am I allergic to anything", "allergy", "self"),
        ("what does my brother do for a living?", "job", "near"),
        ("what languages can I speak?", "language", "self"),
    ],
)
def test_an_attribute_that_is_asked_for_is_read(embedder, reader, question, slot, about):
    asked = reader.read(embedder.embed([question], "query")[0])
    assert asked is not None
    assert (asked.slot, asked.about) == (slot, about)


@pytest.mark.parametrize(
    "question", ["What happened at the wedding in Lyon?", "how do I sharpen a chisel"]
)
def test_other_questions_ask_for_no_attribute(embedder, reader, question):
    assert reader.read(embedder.embed([question], "query")[0]) is None


def test_only_facts_of_the_attribute_and_of_whom_it_is_gain():
    facts = [
        fact("mine", "home"), fact("hers", "home", about="near"), fact("job", "job"),
        fact("unsure", "home", sure=0.5),
    ]  # fmt: skip
    found = gains(Asked("home", "self", 0.8), facts)
    assert found == {"mine": pytest.approx(GAIN * 0.72), "unsure": pytest.approx(GAIN * 0.4)}


def test_pets_and_kin_are_attributes_of_their_owner():
    found = gains(Asked("pet", "self", 1.0), [fact("cat", "pet", about="near")])
    assert set(found) == {"cat"}


def test_a_job_and_its_employer_are_one_where_a_statement_may_tell_either():
    facts = [fact("baker", "employer", sure=0.6, job=0.4), fact("Siemens", "employer")]
    assert gains(Asked("job", "self", 1.0), facts) == {"baker": pytest.approx(GAIN)}


def test_another_embedder_has_no_reader():
    assert reader_for("some-other-model") is None


def test_the_reader_is_fitted_to_questions_and_reads_others(tmp_path):
    rows = data.rows(data.GOLD / "questions.jsonl")
    learned = rows[::3]
    text = "\n".join(json.dumps(row) for row in learned)
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    questions.make(tmp_path, tmp_path / "asked.npz")
    reader = load(tmp_path / "asked.npz")
    held = rows[1::6]
    vectors = make_embedder(Settings()).embed([str(row["text"]) for row in held], "query")
    found = [reader.read(vector) for vector in vectors]
    said = [(one.slot, row["slot"]) for one, row in zip(found, held, strict=True) if one]
    assert len(said) > 0.35 * len(held)
    assert sum(one == other for one, other in said) > 0.85 * len(said)
