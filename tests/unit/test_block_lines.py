"""Lines of a block beside the recalled memories: which stand there, in which order."""

from datetime import UTC, datetime

import pytest

from semantic_memory import Hit, ScoreParts
from semantic_memory.context.related import Related
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.english.relative_dates import dated_in_place
from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.messages import Message
from semantic_memory.domain.profile import CoreField
from semantic_memory.judging.reading import FactReader
from semantic_memory.language.confidences import told_of_others
from semantic_memory.profile.core import in_turn
from semantic_memory.testing import ScriptedSentenceJudge
from tests.support.packing import packer_of

SAID = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = {"user_id": "u1"}


def observed(memory, *said, session="s1"):
    for number, text in enumerate(said):
        role = "assistant" if text.startswith("A: ") else "user"
        one = Message(
            id=f"{session}-{number}",
            role=role,
            content=text.removeprefix("A: "),
            created_at=SAID,
        )
        memory.observe([one], session_id=session, **USER)
    memory.flush()


def fact(content, category=Category.PERSONAL, minute=0):
    at = SAID.replace(minute=minute)
    return Fact(
        user_id="u1",
        content=content,
        category=category,
        created_at=at,
        recorded_at=at,
        valid_from=at,
        source=Source(role="user"),
    )


def test_events_of_other_people_dont_fill_a_block(memory):
    observed(memory, "Supervisor Colm wants a first aid refresher.", "I bought a red kayak.")
    observed(memory, "The harbour office opens at nine.", session="s2")
    assert "<history>" not in memory.context("Which hours has the harbour office?", **USER).text


@pytest.mark.parametrize(
    ("said", "need"),
    [
        ("My colleague Tom uses a wheelchair.", "wheelchair"),
        ("Tom from work is allergic to nuts.", "nuts"),
        ("Ben from accounting can't eat gluten.", "gluten"),
        pytest.param(
            "Tom from work uses a wheelchair.",
            "wheelchair",
            marks=pytest.mark.xfail(reason="the judge reads a job as likely as a need"),
        ),
    ],
)
def test_what_another_person_needs_stays_in_a_block(memory, said, need):
    observed(memory, said, "I bought a red kayak.")
    block = memory.context("Team outing ideas?", **USER).text
    assert need in block
    assert "kayak" not in block  # which nobody needs


def test_a_message_that_its_fact_tells_in_full_isnt_shown_beside_it(memory):
    observed(memory, "I am allergic to hazelnuts.")
    block = memory.context("Am I allergic to hazelnuts?", **USER).text
    assert block.count("allergic to hazelnuts") == 1


def test_all_allergies_come_before_the_second_fact_of_another_field():
    core: dict[CoreField, list[Fact]] = {
        "allergies": [fact("The user is allergic to nuts."), fact("Latex gives the user a rash.")],
        "home": [fact("The user lives in Oslo."), fact("The user's flat is in Grünerløkka.")],
    }
    assert [name for name, _ in in_turn(core, SAID)] == ["allergies", "allergies", "home", "home"]


@pytest.mark.parametrize("content", ["The user's deckhand Ty was in jail", "Colm's wife left him"])
def test_a_named_person_of_the_users_is_another_person(content):
    assert told_of_others(content)


def test_a_date_takes_no_direction_from_the_sentence_before():
    said = "I've handed in my notice. From June I freelance"
    assert dated_in_place(said, SAID) == said


def told_at(number, content, category=Category.CONVERSATION, source=None):
    place = {"session_id": "s1", "message_ids": (f"m{number}",), "position": number}
    origin = Source(role="user", speaker="Maya", **place)
    return fact(content, category).model_copy(update={"source": source or origin})


def packed(*facts, **given):
    parts = ScoreParts(**dict.fromkeys(ScoreParts.model_fields, 0.5))
    hits = [Hit(fact=one, score=1 - n / 50, parts=parts) for n, one in enumerate(facts)]
    return packer_of(TiktokenCounter()).pack(hits, budget=1_000, **given)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_a_fact_and_its_message_never_both_stand(first, second):
    message = told_at(1, "Hi! I'm Maya, I work as a storage engineer at a company in Oslo.")
    drawn = told_at(1, "Maya works as a storage engineer at a company in Oslo", Category.PERSONAL)
    pair = (message, drawn)
    assert packed(pair[first], pair[second]).text.count("storage engineer") == 1


def test_a_fact_that_denies_what_its_message_says_isnt_told_by_it():
    message = told_at(1, "I keep bees in Oslo.")
    drawn = told_at(1, "Maya doesn't keep bees in Oslo", Category.PERSONAL)
    assert "doesn't keep bees" in packed(message, drawn).text


STATED = [f"The {name} boat has a sail of its own" for name in "red blue old new big".split()]
TOLD = [*STATED, *(f"Aunt {name} wrote a letter" for name in "Ida Eva Liv Una Ada".split())]


@pytest.mark.parametrize(
    ("before", "shown"), [("Which colour is it?", True), ("It is a boat.", False)]
)
@pytest.mark.parametrize("others", [2, 9])
def test_an_idle_message_stands_only_as_an_answer(before, shown, others):
    said = [told_at(2 * n, text) for n, text in enumerate(TOLD[:others], start=10)]
    idle = told_at(2, "Blueish, thanks a lot.")
    related = Related(is_idle=lambda one: one.id == idle.id)
    hits = [*said, told_at(1, before), idle]
    assert ("thanks a lot" in packed(*hits, related=related).text) is shown
    assert "thanks a lot" in packed(*hits).text


def test_a_message_is_idle_if_every_sentence_concerns_its_moment_only():
    def script(text):
        return {"keep": 0.02 if "thank" in text.casefold() else 0.9, "task": 0.01}

    reader = FactReader(ScriptedSentenceJudge(script))
    assert reader.is_idle(told_at(1, "Thanks! Thank you so much."))
    assert not reader.is_idle(told_at(1, "Thanks! My sister lives in Oslo."))
