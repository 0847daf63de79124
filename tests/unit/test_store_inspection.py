"""Inspection of a store: changes, former beliefs, absent memories, past recalls."""

from __future__ import annotations

import weakref
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from semantic_memory import Category, Fact, Message, SemanticMemory
from semantic_memory.application.timelines import TimelineReader, laid_out
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.inspection import Absence
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.requests.inspection import WhyNotRequest
from semantic_memory.domain.retention import Expiry, Periods, Unexpired
from semantic_memory.domain.values import derived_id
from semantic_memory.retrieval.absence import barred, teller
from semantic_memory.testing import FrozenClock
from tests.conftest import NOW, make_fact
from tests.support.inside import inside

U: dict[str, Any] = {"user_id": "u1"}
UNEXPIRED = Unexpired(NOW, Periods())


def ask(memory: SemanticMemory, query: str, **values: Any) -> Absence:
    return memory.admin.inspection.why_not.explain(
        WhyNotRequest.model_validate({"user_id": "u1", "query": query, **values})
    )


# ---------------------------------------------------------------- what changed


def test_changes_are_grouped_and_counted(memory: SemanticMemory, clock: FrozenClock):
    memory.add("Was here long ago", **U)
    clock.advance(days=10)
    memory.add("Likes tea", **U)
    edited = memory.add("Lives in Oslo", **U)
    clock.advance(hours=1)
    memory.update(edited.id, content="Lives in Berlin", **U)
    gone = memory.add("Has a secret", **U)
    memory.delete(gone.id, **U)
    memory.observe([Message(id="m1", role="user", content="Hello")], session_id="s1", **U)
    found = memory.admin.inspection.recent.changes("u1", clock.now() - timedelta(days=7), 10)
    assert found.counts == {"learnt": 3, "changed": 1, "ended": 1, "forgotten": 1}
    (ended,) = (one for one in found.items if one.group == "ended")
    assert ended.fact is not None
    assert ended.newer is not None
    assert (ended.fact.content, ended.newer.content) == ("Lives in Oslo", "Lives in Berlin")
    (forgotten,) = (one for one in found.items if one.group == "forgotten")
    assert forgotten.fact is None
    assert "secret" not in found.model_dump_json()


def test_changes_beyond_the_limit_are_counted(memory: SemanticMemory, clock: FrozenClock):
    memory.transfer.add_many([{"content": f"Fact {n}"} for n in range(20)], **U)
    found = memory.admin.inspection.recent.changes("u1", clock.now() - timedelta(days=1), 3)
    assert found.counts["learnt"] == 20
    contents = [one.fact.content for one in found.items if one.fact]
    assert contents == ["Fact 19", "Fact 18", "Fact 17"]


@pytest.mark.parametrize("days", [0.5, 1.5, 2.5, 30])
def test_changes_begin_at_the_time_asked_for(
    memory: SemanticMemory, clock: FrozenClock, days: float
):
    for number in range(4):
        memory.add(f"Fact {number}", **U)
        memory.add(f"Fact {number}", user_id="other")
        clock.advance(days=1)
    found = memory.admin.inspection.recent.changes("u1", clock.now() - timedelta(days=days), 10)
    assert found.counts.get("learnt", 0) == min(4, int(days))


def test_users_come_by_their_latest_change(memory: SemanticMemory, clock: FrozenClock):
    memory.add("Old", user_id="long-ago")
    clock.advance(days=30)
    memory.add("First", user_id="before")
    clock.advance(hours=1)
    memory.add("Second", user_id="now")
    since = clock.now() - timedelta(days=7)
    found = memory.admin.inspection.recent.activity(["long-ago", "before", "now"], since)
    assert [(one.user_id, one.changes) for one in found] == [
        ("now", 1),
        ("before", 1),
        ("long-ago", 0),
    ]
    assert found[-1].last_at is None


# ---------------------------------------------------------------- timelines


def read_as(slot: str, about: str = "self", probability: float = 0.9) -> Reading:
    return Reading.model_validate(
        {
            "judge": "test-1",
            "keep": 1.0,
            "task": 0.0,
            "alone": 1.0,
            "about": about,
            "about_self": 1.0,
            "kind": "state",
            "kind_probability": 1.0,
            "standing_order": 0.0,
            "slot": slot,
            "slot_probability": probability,
            "category": "none",
            "category_probability": 1.0,
        }
    )


def fact(content: str, days: int, **values: Any) -> Fact:
    at = NOW + timedelta(days=days)
    key = f"{content}/{days}"
    return make_fact(id=derived_id(key), content=content, created_at=at, valid_from=at, **values)


def names_of(facts: list[Fact], kind: str) -> list[str]:
    return [one.name for one in laid_out(facts) if one.kind == kind]


def test_a_slot_has_its_statements_in_order():
    facts = [
        fact("Lives in Berlin", 2, reading=read_as("home")),
        fact("Lives in Oslo", 1, reading=read_as("home")),
        fact("Her sister lives in Rome", 3, reading=read_as("home", about="near")),
        fact("Perhaps lives in Bonn", 4, reading=read_as("home", probability=0.3)),
    ]
    (home,) = (one for one in laid_out(facts) if one.kind == "slot")
    assert [one.content for one in home.facts] == ["Lives in Oslo", "Lives in Berlin"]


def test_a_chain_holds_what_replaced_what():
    last = fact("The release is in June", 3)
    middle = fact("The release is in May", 2, superseded_by=last.id)
    first = fact("The release is in April", 1, superseded_by=middle.id)
    other = fact("Likes tea", 1)
    (chain,) = (one for one in laid_out([other, last, first, middle]) if one.kind == "chain")
    assert [one.id for one in chain.facts] == [first.id, middle.id, last.id]
    assert chain.name == last.content


def test_names_that_tell_facts_apart_have_timelines():
    facts = [
        fact("Met Ida at the station", 1),
        fact("Went to the opera with Ida", 2),
        fact("Saw Tom once", 3),
    ]
    assert names_of(facts, "entity") == ["ida"]


def test_no_facts_have_no_timelines():
    assert laid_out([]) == []


def test_older_statements_are_laid_out_stretch_by_stretch(
    memory: SemanticMemory, clock: FrozenClock
):
    shared = inside(memory)
    timelines = TimelineReader(shared.ledger, Expiry(clock, Periods()))
    added = [
        memory.add(f"Met Ida {number} times", user_id="u1", created_at=NOW - timedelta(days=number))
        for number in range(10)
    ]
    memory.add("Met Ida elsewhere", user_id="u2")
    seen: list[str] = []
    behind, stretches = None, 0
    while stretches == 0 or behind is not None:
        found = timelines.timelines("u1", 4, behind)
        (ida,) = found.items
        assert found.since == ida.facts[0].created_at
        seen += [one.id for one in reversed(ida.facts)]
        behind, stretches = found.earlier, stretches + 1
    assert seen == [one.id for one in added]
    assert stretches == 3
    with pytest.raises(NotFoundError):
        timelines.timelines("u2", 4, added[0].id)


# ---------------------------------------------------------------- why not


def test_a_memory_that_came_is_there(memory: SemanticMemory):
    found = memory.add("Lives in Lisbon", **U)
    absence = ask(memory, "Lisbon", memory_id=found.id)
    assert (absence.reason, absence.place) == ("came", 1)


def test_an_unknown_memory_is_unknown(memory: SemanticMemory):
    memory.add("Likes tea", **U)
    assert ask(memory, "tea", memory_id="never").reason == "unknown"
    assert ask(memory, "tea", text="Juggles seven porcupines").reason == "unknown"


def test_the_memory_of_another_user_is_unknown(memory: SemanticMemory):
    other = memory.add("Lives in Lisbon", user_id="other")
    absence = ask(memory, "Lisbon", memory_id=other.id)
    assert (absence.reason, absence.memory) == ("unknown", None)


def test_a_forgotten_memory_is_said_to_be(memory: SemanticMemory):
    gone = memory.add("Lives in Lisbon", **U)
    memory.delete(gone.id, **U)
    assert ask(memory, "Lisbon", memory_id=gone.id).reason == "forgotten"


def test_a_superseded_memory_names_its_successor(memory: SemanticMemory, clock: FrozenClock):
    old = memory.add("Lives in Oslo", **U)
    clock.advance(hours=1)
    new = memory.update(old.id, content="Lives in Berlin", **U)
    (ended,) = memory.list(status="superseded", **U)
    absence = ask(memory, "Where do I live?", memory_id=ended.id)
    assert absence.reason == "superseded"
    assert absence.by is not None
    assert absence.by.id == new.id
    assert ask(memory, "Where do I live?", text="Lives in Oslo").reason == "superseded"


def test_the_memory_of_another_agent_is_out_of_scope(memory: SemanticMemory):
    own = memory.add("Lives in Lisbon", agent_id="travel", **U)
    absence = ask(memory, "Lisbon", memory_id=own.id, agent_id="cook")
    assert (absence.reason, absence.fields) == ("scope", ("agents",))


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"categories": ["decision"]}, "categories"),
        ({"tags": ["work"]}, "tags"),
        ({"since": "2030-01-01T00:00:00Z"}, "since"),
        ({"min_confidence": 0.99}, "min_confidence"),
        ({"not_words": ["lisbon"]}, "not_words"),
        ({"session_id": "s9"}, "session_id"),
        ({"metadata": {"kind": "x"}}, "metadata"),
    ],
)
def test_a_filter_that_leaves_it_out_is_named(
    memory: SemanticMemory, filters: dict[str, Any], field: str
):
    found = memory.add("Lives in Lisbon", confidence=0.5, **U)
    absence = ask(memory, "Lisbon", memory_id=found.id, filters=filters)
    assert (absence.reason, absence.fields) == ("filtered", (field,))


def test_an_expired_memory_has_expired(memory: SemanticMemory, clock: FrozenClock):
    found = memory.add("Is in Rome", expires_at=clock.now() + timedelta(days=1), **U)
    clock.advance(days=2)
    assert ask(memory, "Rome", memory_id=found.id).reason == "expired"


def test_a_memory_of_later_was_not_believed_then(memory: SemanticMemory, clock: FrozenClock):
    found = memory.add("Lives in Lisbon", **U)
    before = (clock.now() - timedelta(days=3)).isoformat()
    absence = ask(memory, "Lisbon", memory_id=found.id, filters={"as_of": before})
    assert absence.reason == "not believed then"


def test_a_memory_below_the_rank_has_its_place(memory: SemanticMemory):
    for content in ("Drinks green tea at noon", "Grows green tea in Kerala", "Sells green tea"):
        memory.add(content, **U)
    low = memory.add("Bought a towel for the kettle and the tea, and much else", **U)
    memory.flush()
    absence = ask(memory, "green tea", memory_id=low.id, k=2)
    assert absence.reason == "below rank"
    assert absence.place == absence.ranked == 4
    assert absence.nearest is not None
    assert len(absence.answer) == 2


def test_a_memory_without_any_connection_was_found_by_no_arm(memory: SemanticMemory):
    memory.transfer.add_many([{"content": f"Drinks green tea {n}"} for n in range(5)], **U)
    odd = memory.add("Zebras gallop", **U)
    absence = ask(memory, "green tea", memory_id=odd.id, k=3)
    assert absence.place_by_words is None
    assert absence.reason == "neither arm"


def test_the_message_of_a_fact_that_came_is_told(memory: SemanticMemory):
    memory.observe(
        [Message(id="m1", role="user", content="I live in Lisbon.")], session_id="s1", **U
    )
    memory.flush()
    every = memory.list(filters={"categories": list(Category)}, **U)
    for one in every:
        absence = ask(memory, "Where do I live?", memory_id=one.id, k=1)
        assert absence.reason in ("came", "told")


def test_a_block_without_room_says_so(memory: SemanticMemory):
    facts = memory.transfer.add_many(
        [{"content": f"Drinks green tea with friend {n} in garden {n}"} for n in range(30)], **U
    )
    reasons = {ask(memory, "green tea", memory_id=one.id, budget=60, k=50).reason for one in facts}
    assert "budget" in reasons
    assert "came" in reasons


def test_asking_leaves_no_trace_and_no_use(memory: SemanticMemory):
    found = memory.add("Lives in Lisbon", **U)
    ask(memory, "Lisbon", memory_id=found.id, budget=300)
    assert memory.admin.inspection.tracer.latest("u1", 10) == []
    assert memory.history.audit(**U) == []


def test_one_memory_must_be_named():
    for values in ({}, {"memory_id": "a", "text": "b"}):
        with pytest.raises(ValidationError, match="either memory_id or text"):
            WhyNotRequest.model_validate({"user_id": "u1", "query": "tea", **values})


def test_scope_comes_before_status_and_filters():
    ended = fact("Lives in Oslo", 0, status="superseded", agent_id="cook")
    filters = Filters(agents=frozenset({None}), categories=frozenset({Category.DECISION}))
    bar = barred(ended, filters, UNEXPIRED)
    assert bar is not None
    assert bar.reason == "scope"


def test_the_same_words_tell_a_memory():
    one, other = fact("Likes  tea", 0), fact("likes tea", 1)
    assert teller(one, [fact("Likes rye", 0), other]) == other
    assert teller(one, [one]) is None


# ---------------------------------------------------------------- traces


def test_a_search_and_a_block_are_traced_in_figures(memory: SemanticMemory):
    memory.add("Lives in Lisbon", **U)
    hits = memory.search("Lisbon", k=3, filters={"categories": ["personal"]}, **U)
    packed = memory.context("Where do I live?", budget=200, **U)
    block, search = memory.admin.inspection.tracer.latest("u1", 10)
    assert (search.kind, search.asked_for, search.found) == ("search", 3, 1)
    assert search.narrowed == ("categories",)
    assert search.candidates[0].id == hits[0].fact.id
    assert search.candidates[0].score == pytest.approx(hits[0].score, abs=1e-5)
    for name, value in hits[0].parts:
        assert getattr(search.candidates[0].parts, name) == pytest.approx(value, abs=1e-5)
    assert (block.kind, block.tokens) == ("context", packed.tokens)
    assert block.shown == tuple(one.id for one in packed.facts)
    assert {"ranking", "packing"} <= block.steps_ms.keys()
    assert block.query is None
    assert memory.admin.inspection.tracer.one(block.id, "u1") == block


def test_a_trace_that_waits_keeps_no_answer_alive(memory: SemanticMemory):
    memory.add("Lives in Lisbon", **U)
    (hit,) = memory.search("Lisbon", **U)
    parts = weakref.ref(hit.parts)
    del hit
    assert parts() is None  # what lives on is walked by the garbage collector again and again
    assert memory.admin.inspection.tracer.latest("u1", 10)


def test_a_trace_of_another_user_is_not_found(memory: SemanticMemory):
    memory.add("Lives in Lisbon", **U)
    memory.search("Lisbon", **U)
    (trace,) = memory.admin.inspection.tracer.latest("u1", 10)
    with pytest.raises(NotFoundError, match=trace.id):
        memory.admin.inspection.tracer.one(trace.id, "other")


def test_traces_end_with_their_retention(memory: SemanticMemory, clock: FrozenClock):
    memory.add("Lives in Lisbon", **U)
    memory.search("Lisbon", **U)
    clock.advance(days=8)
    assert memory.admin.inspection.tracer.latest("u1", 10) == []


def test_a_user_who_is_forgotten_has_no_traces(memory: SemanticMemory):
    memory.add("Lives in Lisbon", **U)
    memory.search("Lisbon", **U)
    memory.admin.inspection.tracer.latest("u1", 10)
    memory.search("Lisbon", **U)
    memory.forget(everything=True, **U)
    assert memory.admin.inspection.tracer.latest("u1", 10) == []
