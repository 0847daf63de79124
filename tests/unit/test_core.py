"""The core of a profile: which facts it has, and that it begins every block."""

from datetime import date, timedelta

import pytest

from semantic_memory.domain.english.due import due_on
from semantic_memory.domain.facts import Cause, Source
from semantic_memory.domain.trust import Trust
from semantic_memory.judging.reading import FactReader
from semantic_memory.profile.core import derive_core, in_turn
from semantic_memory.settings import ContextSettings, Settings
from semantic_memory.testing import ScriptedSentenceJudge
from tests.conftest import NOW, make_fact, say

U = {"user_id": "u1"}
S = {**U, "session_id": "s1"}
UNRELATED = "Book me a hotel in Lisbon"
SLOTS = {
    "vegetarian": "diet",
    "allergic": "allergy",
    "live": "home",
    "moved": "home",
    "flat": "home",
    "name": "name",
    "nurse": "job",
    "midwife": "job",
    "husband": "partner",
    "report": "deadline",
}


def script(text: str) -> dict[str, object]:
    """Read a fact by a word of it, as a judge of sentences would."""
    found: dict[str, object] = {}
    for word, slot in SLOTS.items():
        if word in text:
            found["slot"] = slot
    if "moved" in text or "flat" in text:
        found["kind"] = "event"
    if "husband" in text or "friend" in text:
        found |= {"about": "near" if "husband" in text else "other", "about_self": 0.1}
    if "lways" in text:
        found |= {"kind": "standing_order", "standing_order": 0.97, "category": "feedback"}
    if "perhaps" in text:
        found["keep"] = 0.5
    if "brother" in text or "kids" in text:
        found |= {"slot": "family", "about": "near", "about_self": 0.02, "slot_probability": 0.5}
        found["other_slots"] = {"home" if "kids" in text else "health": 0.4}
    return found


READ = FactReader(ScriptedSentenceJudge(script))


def fact(number: int, content: str, **values):
    said = NOW + timedelta(days=number)
    return make_fact(number, content=content, created_at=said, valid_from=said, **values)


def core(*facts, most: int = 2):
    return {
        name: [one.content for one in own]
        for name, own in derive_core(facts, READ, most).items()
        if own
    }


def test_a_clear_statement_of_a_closed_slot_is_core_and_nothing_else():
    assert core(
        fact(1, "The user is vegetarian"),
        fact(2, "The user is so pumped for the launch"),
        fact(3, "The user is perhaps allergic to bees"),
        fact(4, "The user's husband Anton plays the piano"),
        fact(5, "The user's friend is allergic to nuts"),
        fact(6, "Always answer in Dutch"),
    ) == {
        "diet": ["The user is vegetarian"],
        "family": ["The user's husband Anton plays the piano"],
        "instructions": ["Always answer in Dutch"],
    }


def test_the_latest_statement_of_a_slot_counts_even_if_it_is_not_understood():
    older, newer = fact(1, "The user lives in Ghent"), fact(9, "The user lives in Malmö")
    assert core(older, newer) == {"home": ["The user lives in Malmö"]}
    assert core(older, fact(9, "The user's flat is sublet")) == {}
    assert core(fact(1, "The user is allergic to bees"), fact(2, "The user is allergic to nuts"))[
        "allergies"
    ] == ["The user is allergic to nuts", "The user is allergic to bees"]


def test_of_relatives_only_who_belongs_to_the_family_is_core():
    kids = fact(1, "The user's kids are Liv and Aksel")
    ill = fact(2, "The user's brother has dementia")
    assert core(kids, ill) == core(kids) == {"family": [kids.content]}


def test_what_has_perhaps_changed_is_not_core():
    cause = Cause(newer="fact-9", decided_by="pairs-1", reason="likely", at=NOW)
    assert core(fact(1, "The user is vegetarian", perhaps_changed=(cause,))) == {}


def test_the_order_of_facts_does_not_matter_and_most_bounds_each_slot():
    facts = [fact(number, f"The user is allergic to nut {number}") for number in range(5)]
    assert core(*facts) == core(*reversed(facts))
    assert len(core(*facts, most=3)["allergies"]) == 3


def test_where_several_people_speak_only_the_owner_has_a_core():
    def said(number, content, speaker):
        return fact(number, content, source=Source(role="user", speaker=speaker))

    facts = [said(1, "I am vegetarian", "Ana"), said(2, "I am allergic to nuts", "Tom")]
    assert core(*facts) == {}
    assert core(*facts, said(3, "I am vegetarian now", "u1"))["diet"] == ["I am vegetarian now"]


def test_a_deadline_is_shown_within_a_week_of_its_day():
    due = fact(0, "The report is due on 20 January 2026")
    fields = derive_core([due], READ, 2)
    assert in_turn(fields, due.created_at.replace(month=1, day=10)) == []
    assert in_turn(fields, due.created_at.replace(month=1, day=15)) == [("deadlines", due)]
    assert in_turn(fields, due.created_at.replace(month=1, day=21)) == []


def test_a_due_day_without_a_year_is_the_next_one():
    assert due_on("The report is due on 3 January", date(2026, 5, 10)) == date(2027, 1, 3)
    assert due_on("The report was fun", date(2026, 5, 10)) is None


@pytest.fixture
def memory(open_memory):
    return open_memory(sentence_judge=ScriptedSentenceJudge(script))


def shown(memory, **values):
    return memory.context(UNRELATED, **U, **values).text.partition("</core>")[0]


def test_the_core_begins_a_block_whatever_the_question(memory):
    memory.add("The user is vegetarian", **U, category="preference")
    memory.add("The user is allergic to latex", **U)
    memory.add("The user's friend Anna is getting divorced", **U)
    memory.flush()
    text = memory.context(UNRELATED, **U, budget=120).text
    core = text.partition("<core>")[2].partition("</core>")[0]
    assert "vegetarian" in core
    assert "latex" in core
    assert "Anna" not in core


def test_a_deleted_or_less_trusted_fact_is_not_core(memory):
    diet = memory.add("The user is vegetarian", **U)
    memory.add("The user lives in Rome", **U, trust=Trust.ASSISTANT)
    memory.flush()
    assert "vegetarian" in shown(memory)
    assert "Rome" not in shown(memory)
    memory.delete(diet.id)
    assert "vegetarian" not in shown(memory)


def test_a_line_by_hand_stands_for_the_derived_ones_of_its_field(memory):
    memory.add("The user is vegetarian", **U)
    memory.profile.update({"diet": "Eats everything but pork."}, **U)
    memory.flush()
    assert "Eats everything but pork." in shown(memory, budget=200)
    assert "vegetarian" not in shown(memory, budget=200)


def test_a_fact_that_was_acknowledged_as_extracted_is_in_the_next_core(memory):
    memory.observe(say("I'm allergic to shellfish."), **S)
    memory.sessions.close(**S)
    assert "shellfish" in shown(memory)


@pytest.mark.parametrize("template", ["xml", "markdown", "plain", "json"])
def test_the_core_holds_as_much_in_every_template(open_memory, template):
    memory = open_memory(
        settings=Settings(context=ContextSettings(template=template)),
        sentence_judge=ScriptedSentenceJudge(script),
    )
    told = ("My name is Ilse Brandt.", "I'm allergic to shellfish.", "I've been vegetarian.")
    memory.observe(say(*told, "Always answer in Dutch."), **S)
    memory.flush()
    text = memory.context("Where could we have dinner?", **U, budget=1_000).text
    for word in ("Ilse", "shellfish", "vegetarian", "Dutch"):
        assert word in text
