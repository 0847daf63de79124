"""Facts rest on others by the words of a reason, or as plans with something that was introduced."""

from datetime import timedelta

import numpy as np
import pytest

from semantic_memory.consolidation.decisions import (
    FollowDecision,
    MarkDecision,
    SupersedeDecision,
)
from semantic_memory.consolidation.resting import may_rest, rests
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.facts import Status
from semantic_memory.judging.packaged import PackagedSentenceJudge
from semantic_memory.judging.ports import Verdict
from semantic_memory.judging.reading import FactReader
from semantic_memory.language.reasons import reason
from semantic_memory.testing import ScriptedPairJudge, ScriptedSentenceJudge
from tests.conftest import make_fact

JOBS = FactReader(ScriptedSentenceJudge(lambda _: {"slot": "job"}))
READ = FactReader(PackagedSentenceJudge())

RESTING = [
    ("I work at Northwind.", "I take the 12 bus because I work at Northwind."),
    ("I have a toddler.", "I never fly at night because I have a toddler."),
    pytest.param(
        "My boss is Ines.",
        "I avoid Mondays off because my boss Ines plans then.",
        marks=pytest.mark.xfail(reason="the judge finds the boss hardly worth keeping"),
    ),
    ("I live in a basement flat.", "Since I live in a basement flat, I run a dehumidifier."),
    ("I'm a potter.", "I keep my nails short because I'm a potter."),
    ("I'm a beekeeper.", "I wear white overalls because I'm a beekeeper."),
    ("I have two cats.", "I vacuum daily because of my two cats."),
    ("My dog is called Waldo.", "I walk Waldo along the canal every evening."),
    ("I work at Kestrel Foods.", "I'm going to audit Kestrel Foods next spring."),
]
LOOK_ALIKES = [
    # about somebody else
    ("My sister lives in Leeds.", "I cycle to work because I live in Leeds."),
    ("My cousin works at Northwind.", "I take the 12 bus because I work at Northwind."),
    ("My brother has a peanut allergy.", "I carry a pen because I have a peanut allergy."),
    # another value
    ("I live in York.", "I cycle to work because I live in Leeds."),
    ("I have a parrot called Kiwi.", "I get up early because of my dog Bruno."),
    ("My manager is Tor.", "I write on Fridays because my manager Ines wants it."),
    # denied
    ("I don't eat meat.", "I buy from the butcher because I eat meat."),
    ("I'm not a morning person.", "I run at six because I'm a morning person."),
    # a time, not a reason
    ("I live in Leeds.", "I have cycled to work since I moved to Leeds."),
    ("I was a student in Ghent.", "I have known Femke since I was a student in Ghent."),
    # a comparison, a role
    ("I'm a nurse.", "I like tea as much as any nurse."),
    ("I play the piano.", "I use the old piano as a shelf."),
    # the reason is not given
    ("I work at Northwind.", "I like the coffee at Northwind."),
    ("I live in Bergen.", "My aunt plans to visit Bergen in June."),
    ("My dog is called Waldo.", "I'm reading a book called Waldo."),
    ("I work at Kestrel Foods.", "I met my wife at Kestrel Foods."),
    # its consequence is the same, the reason another
    ("I take the 12 bus because I live far out.", "I take the 12 bus because my car broke down."),
    ("I go to bed at nine.", "I go to bed at nine because I train for a marathon."),
    # a name of another thing, a denied reason
    ("I drive a Panda.", "I plan to see the pandas at the zoo in May."),
    ("I work at Northwind.", "I moved here, but not because I work at Northwind."),
]


def _rests(basis: str, said: str) -> bool:
    older, newer = make_fact(1, content=basis), make_fact(2, content=said)
    return may_rest(newer, READ(newer)) and rests(newer, older, READ)


@pytest.mark.parametrize(("basis", "said"), RESTING)
def test_a_fact_rests_on_its_reason_and_a_plan_on_what_introduces_its_names(basis, said):
    assert _rests(basis, said)


@pytest.mark.parametrize(("basis", "said"), LOOK_ALIKES)
def test_a_look_alike_rests_on_nothing(basis, said):
    assert not _rests(basis, said)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Because I'm allergic, I read labels.", "I'm allergic"),
        ("I swim at noon, since the pool is empty then.", "the pool is empty then"),
        ("I left early due to the storm - it was bad.", "the storm"),
        ("I run as fast as I can.", None),
        ("I have worked here since June.", None),
        ("I came, not because I had to.", None),
        ("I like tea.", None),
    ],
)
def test_the_reason_of_a_sentence(sentence, told):
    assert reason(sentence) == told


def _added(memory, clock, *sentences, **values):
    facts = []
    for sentence in sentences:
        clock.advance(days=1)
        facts.append(memory.add(sentence, user_id="u1", **values))
        memory.flush()
    return [memory.get(fact.id) for fact in facts]


def _reviews(memory):
    return {fact.content: fact.review for fact in memory.list(user_id="u1")}


GLOBEX = "I work at Globex."
JOB = "I work at Northwind."
BUS = "I take the 12 bus because I work at Northwind."


def test_what_gives_a_deleted_fact_as_its_reason_is_to_check_and_stays(memory, clock):
    job, bus, tea = _added(memory, clock, JOB, BUS, "I like tea.")
    assert (job.rests_on, bus.rests_on, tea.rests_on) == ((), (job.id,), ())
    assert _reviews(memory) == {JOB: None, BUS: None, "I like tea.": None}
    memory.delete(job.id)
    assert _reviews(memory) == {BUS: "to check", "I like tea.": None}
    assert memory.get(bus.id).status is Status.ACTIVE
    (listed,) = memory.history.to_confirm(user_id="u1")
    assert (listed.fact.id, listed.cause.decided_by) == (bus.id, "rules:reasons")
    assert listed.cause.reason == f"it rests on {job.id}, which was forgotten"


def test_what_rests_on_a_superseded_fact_is_to_check_until_that_is_restored(open_memory, clock):
    moves = ScriptedPairJudge(lambda old, new: "over" if (old, new) == (JOB, GLOBEX) else None)
    memory = open_memory(pair_judge=moves)
    job, bus, _ = _added(memory, clock, JOB, BUS, GLOBEX)
    assert memory.get(job.id).status is Status.SUPERSEDED
    assert memory.get(bus.id).review == "to check"
    memory.history.restore(job.id)
    assert memory.get(bus.id).review is None
    assert memory.history.to_confirm(user_id="u1") == []


def test_a_chain_is_to_check_to_its_end_and_says_what_fell(memory, clock):
    job, bus = _added(memory, clock, JOB, BUS)
    (card,) = _added(memory, clock, "Keeps a bus card", references=[bus.id])
    (drawer,) = _added(memory, clock, "The card is in the drawer", references=[card.id])
    memory.delete(job.id)
    assert {memory.get(one.id).review for one in (bus, card, drawer)} == {"to check"}
    told = {one.fact.id: one.cause.reason for one in memory.history.to_confirm(user_id="u1")}
    assert (
        told[drawer.id] == f"it refers to {card.id}, which rests on {job.id}, which was forgotten"
    )


def test_a_ring_of_references_has_an_end(memory, clock):
    one, two = _added(memory, clock, "Owns a canoe", "Rents a boat house")
    memory.update(one.id, references=[two.id])
    memory.update(two.id, references=[one.id])
    assert {*_reviews(memory).values()} == {None}


def test_what_rests_on_a_merged_fact_is_to_check_once_the_one_that_it_became_falls(
    open_memory, clock
):
    memory = open_memory(pair_judge=ScriptedPairJudge(lambda *_: None))
    job, bus = _added(memory, clock, JOB, BUS)
    (again,) = _added(memory, clock, JOB)
    assert memory.get(bus.id).review is None
    for one in {job.id, again.id} & {fact.id for fact in memory.list(user_id="u1")}:
        memory.delete(one)
    assert memory.get(bus.id).review == "to check"


class Likely:
    """Is nearly certain that each newer statement ends the older, without having decided."""

    def judge(self, pairs):
        return [Verdict(0.99, 0.0, "scripted") for _ in pairs]


def test_a_statement_that_ends_a_reason_never_retires_what_it_was_given_for():
    def decided(told, judge):
        older, newer = make_fact(1, content=told), make_fact(2, content=GLOBEX)
        newer = newer.model_copy(update={"created_at": older.created_at + timedelta(days=9)})
        near = np.full((2, 4), 0.5, dtype=np.float32)
        return [type(one) for one in plan([older, newer], near, judge, JOBS)]

    assert decided("I take the 12 bus to Northwind.", Likely()) == [SupersedeDecision]
    assert decided(BUS, Likely()) == [FollowDecision, MarkDecision]
    assert decided(BUS, ScriptedPairJudge(lambda *_: "over")) == [SupersedeDecision]  # decided
