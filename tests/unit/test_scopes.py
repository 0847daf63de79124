"""Scopes: memories of agents and runs of one user, apart from each other and from shared ones."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_memory import Candidate, InvalidInputError, SemanticMemory, repair
from semantic_memory.consolidation.beliefs import OTHER_VALUES, united
from semantic_memory.consolidation.merging import merged, without
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.testing import HashEmbedder, ScriptedExtractor
from tests.conftest import NOW, make_fact, say
from tests.support.judges import READ, plain_pair_judge

U: dict[str, Any] = {"user_id": "u1"}


def contents(memories: Any) -> set[str]:
    return {one.content for one in memories}


def found(memory: SemanticMemory, query: str, **options: Any) -> set[str]:
    return contents(hit.fact for hit in memory.search(query, **U, **options))


# ---------------------------------------------------------------- the same fact


AGENTS = [None, "a", "b", "c"]
RUNS = [None, "r1", "r2"]
FACTS = [
    "Maya likes tea.",
    "maya likes tea",
    "Maya lives in Berlin.",
    "Maya lives in Rome.",
    "Maya no longer likes tea.",
    "Maya moved to Oslo.",
]


def test_equal_texts_of_all_scopes_stay_apart(memory):
    scopes = [*product(AGENTS, RUNS)]
    for agent, run in scopes * 2:
        for text in ("Prefers Python over Java", "Has two dogs", "Uses Linux"):
            memory.add(text, **U, agent_id=agent, run_id=run)
    memory.flush()
    memory.jobs.run()
    listed = memory.list(**U, limit=None)
    assert len(listed) == 3 * len(scopes)
    assert {fact.scope for fact in listed} == {Scope(*scope) for scope in scopes}
    assert {fact.status for fact in listed} == {"active"}


def test_a_contradiction_ends_nothing_of_another_scope(memory, clock):
    for agent in ("a", None, "b"):
        memory.add("Maya lives in Berlin.", **U, agent_id=agent)
    memory.add("Maya lives in Berlin.", **U, agent_id="a", run_id="r1")
    clock.advance(days=2)
    memory.add("Maya lives in Rome.", **U, agent_id="a")
    memory.flush()
    gone = memory.list(**U, status="superseded")
    assert [(fact.content, fact.scope) for fact in gone] == [("Maya lives in Berlin.", Scope("a"))]
    assert not any(fact.contested_by for fact in memory.list(**U))


def test_a_message_ends_nothing_of_another_scope(open_memory, clock):
    memory = open_memory()
    for agent in ("a", "b", None):
        memory.add("Maya works as a nurse.", **U, agent_id=agent)
        memory.flush()
    clock.advance(days=30)
    memory.observe(say("Maya works as a baker now."), **U, session_id="s1", agent_id="b")
    memory.flush()
    ended = {fact.scope for fact in memory.list(**U, status="superseded")}
    assert ended == {Scope("b")}
    assert {fact.scope for fact in memory.list(**U) if fact.source.session_id is None} >= {
        Scope("a"),
        SHARED,
    }


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(FACTS),
            st.sampled_from(AGENTS),
            st.sampled_from(RUNS),
            st.integers(0, 3),
        ),
        max_size=12,
    )
)
def test_a_plan_over_all_scopes_is_that_of_each_scope(rows):
    facts = [
        make_fact(
            number,
            content=content,
            agent_id=agent,
            run_id=run,
            created_at=NOW + timedelta(days=day),
            valid_from=NOW + timedelta(days=day),
        )
        for number, (content, agent, run, day) in enumerate(rows)
    ]

    def planned(facts: list[Any]) -> set[str]:
        vectors = HashEmbedder(64).embed([fact.content for fact in facts], "document")
        return {repr(decision) for decision in plan(facts, vectors, plain_pair_judge(), READ)}

    alone = [planned([one for one in facts if one.scope == scope]) for scope in scopes_of(facts)]
    assert planned(facts) == set().union(*alone)


def scopes_of(facts: list[Any]) -> set[Scope]:
    return {fact.scope for fact in facts}


def test_many_agents_with_one_text_do_not_hide_an_agents_own_from_its_conflicts(memory, clock):
    for number in range(40):
        memory.add("Maya lives in Berlin.", **U, agent_id=f"agent-{number}")
    memory.flush()
    clock.advance(days=2)
    memory.add("Maya lives in Rome.", **U, agent_id="agent-39")
    memory.flush()
    (gone,) = memory.list(**U, status="superseded")
    assert gone.agent_id == "agent-39"


# ---------------------------------------------------------------- recalling


@pytest.fixture
def scoped(memory: SemanticMemory) -> SemanticMemory:
    memory.transfer.add_many(
        [
            {"content": "tea is shared"},
            {"content": "tea of a", "agent_id": "a"},
            {"content": "tea of a in r1", "agent_id": "a", "run_id": "r1"},
            {"content": "tea of b", "agent_id": "b"},
            {"content": "tea of r2", "run_id": "r2"},
        ],
        **U,
    )
    return memory


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ({}, "shared, a, a r1, b, r2"),
        ({"agent_id": "a"}, "shared, a, a r1, r2"),
        ({"agent_id": "a", "run_id": "r1"}, "shared, a, a r1"),
        ({"agent_id": "a", "run_id": "r3"}, "shared, a"),
        ({"agent_id": "b"}, "shared, b, r2"),
        ({"agent_id": "nobody"}, "shared, r2"),
        ({"run_id": "r2"}, "shared, a, b, r2"),
    ],
)
def test_an_agent_recalls_its_own_memories_and_the_shared_ones(scoped, scope, seen):
    texts = {
        "shared": "tea is shared",
        "a": "tea of a",
        "a r1": "tea of a in r1",
        "b": "tea of b",
        "r2": "tea of r2",
    }
    wanted = {texts[name] for name in seen.split(", ")}
    assert found(scoped, "tea", **scope) == wanted
    block = scoped.context("tea", **U, **scope).text
    assert {text for text in texts.values() if f"{text}\n" in f"{block}\n"} == wanted


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        ("agent:a", {"tea of a", "tea of a in r1"}),
        ("agent:a,b", {"tea of a", "tea of a in r1", "tea of b"}),
        ("agent:null", {"tea is shared", "tea of r2"}),
        ("agent:null run:null", {"tea is shared"}),
        ("-agent:null", {"tea of a", "tea of a in r1", "tea of b"}),
        ("-agent:a,b", {"tea is shared", "tea of r2"}),
        ("agent:b,null", {"tea of b", "tea is shared", "tea of r2"}),
        ("run:r1,r2", {"tea of a in r1", "tea of r2"}),
        ('agent:"null"', set()),
    ],
)
def test_filters_name_agents_and_runs(scoped, where, seen):
    assert contents(scoped.list(**U, filters=where)) == seen
    assert found(scoped, "tea", filters=where) == seen
    exported = scoped.transfer.export(**U, filters=where)
    assert {one["fact"]["content"] for one in exported if one["kind"] == "fact"} == seen


def test_a_scope_given_twice_is_refused(scoped):
    with pytest.raises(InvalidInputError, match="agents"):
        scoped.search("tea", **U, agent_id="a", filters="agent:b")


@pytest.mark.parametrize("verb", ["search", "list", "add", "forget", "transfer.export"])
def test_a_name_that_is_no_identifier_is_refused(scoped, verb):
    first = ("tea",) if verb in ("search", "add") else ()
    with pytest.raises(InvalidInputError):
        list(attrgetter(verb)(scoped)(*first, **U, agent_id="no identifier"))


def test_the_core_profile_of_a_block_is_that_of_the_agent_and_shared(memory):
    memory.profile.update({"home": "Runs marathons in Oslo"}, **U)
    for number in range(8):
        memory.add(f"The user is allergic to nuts of kind {number}", **U, agent_id="b")
    memory.add("The user is allergic to cats", **U, agent_id="a")
    memory.add("The user is allergic to bees", **U)
    memory.flush()
    block = memory.context("What is there to know?", **U, agent_id="a").text
    assert "cats" in block
    assert "bees" in block
    assert "marathon" in block
    assert "nuts" not in block


def test_one_text_of_several_agents_is_once_in_a_block(memory):
    for agent in ("a", "b", None):
        memory.add("Allergic to bees", **U, agent_id=agent, importance=0.9)
    memory.flush()
    assert memory.context("bees", **U).text.count("Allergic to bees") == 1


# ---------------------------------------------------------------- conversations


def test_messages_and_what_is_extracted_have_the_scope_of_the_call(open_memory):
    memory = open_memory(
        extractor=ScriptedExtractor(
            lambda said: [
                Candidate(
                    content=f"Fact of {one.content}",
                    category="preference",
                    confidence=0.9,
                    message_ids=(one.id,),
                )
                for one in said
            ]
        )
    )
    place = {**U, "session_id": "s1"}
    memory.observe(say("one"), **place, agent_id="a", run_id="r1")
    memory.observe(say("two", start=2), **place, agent_id="b")
    memory.observe(say("three", start=3), **place)
    memory.observe(say("four", start=4, agent_id="c"), **place, agent_id="a", run_id="r1")
    memory.flush()
    scopes = {fact.content: fact.scope for fact in memory.list(**U)}
    expected = {
        "one": Scope("a", "r1"),
        "two": Scope("b"),
        "three": SHARED,
        "four": Scope("c", "r1"),
    }
    assert scopes == expected | {f"Fact of {text}": one for text, one in expected.items()}
    assert {one.content: one.scope for one in memory.sessions.messages(**place)} == expected


def test_scopes_survive_reopening_and_a_lost_ledger(open_memory, tmp_path):
    memory = open_memory()
    memory.observe(say("one"), **U, session_id="s1", agent_id="a", run_id="r1")
    memory.flush()
    memory.close()
    for file in (tmp_path / "store").glob("ledger.sqlite3*"):
        file.unlink()
    repair.recover(tmp_path / "store", embedder=HashEmbedder())
    (fact,) = open_memory().list(**U)
    assert fact.scope == Scope("a", "r1")


def test_a_session_observes_and_recalls_as_its_agent(memory):
    memory.add("The password hint is a fish", **U, agent_id="b")
    memory.add("The password hint is a bird", **U, agent_id="a")
    with memory.sessions.open(**U, session_id="s1", agent_id="a") as session:
        session.push({"role": "user", "content": "What is the password hint?"})
        payload = str(session.payload())
    memory.flush()
    assert "bird" in payload
    assert "fish" not in payload
    assert {fact.agent_id for fact in memory.list(**U, filters="session:s1")} == {"a"}


# ---------------------------------------------------------------- forgetting, moving


def test_forgetting_an_agent_takes_only_its_own(scoped):
    place = {**U, "session_id": "s1"}
    scoped.observe(say("I told a that I like sushi"), **place, agent_id="a")
    scoped.observe(say("I told b that I like ramen", start=2), **place, agent_id="b")
    scoped.flush()
    before = contents(scoped.list(**U, limit=None))
    preview = scoped.forget(**U, agent_id="a", dry_run=True)
    assert contents(preview.memories) == contents(scoped.list(**U, agent_id="a"))
    assert int(scoped.forget(**U, agent_id="a")) == int(preview)
    left = contents(scoped.list(**U, limit=None))
    assert left == before - contents(preview.memories)
    assert {"tea is shared", "tea of b", "tea of r2"} <= left
    assert [one.content for one in scoped.sessions.messages(**place)] == [
        "I told b that I like ramen"
    ]
    assert not scoped.list(**U, agent_id="a")


def test_forgetting_a_run_takes_only_its_own(scoped):
    assert int(scoped.forget(**U, run_id="r1")) == 1
    assert int(scoped.forget(**U, agent_id="b", run_id="r1")) == 0
    assert contents(scoped.list(**U)) == {"tea is shared", "tea of a", "tea of b", "tea of r2"}


def test_forgetting_a_subject_of_an_agent_spares_the_others(memory):
    for agent in ("a", "b", None):
        memory.add("Anna is getting a divorce", **U, agent_id=agent)
    assert int(memory.forget(**U, entity="Anna", agent_id="a")) == 1
    assert {fact.agent_id for fact in memory.list(**U)} == {"b", None}


def test_an_export_keeps_scopes(scoped):
    scoped.observe(say("one"), **U, session_id="s1", agent_id="a")
    scoped.flush()
    everything = [*scoped.transfer.export(**U)]
    scoped.transfer.load(everything, user_id="u2")
    scoped.flush()
    scopes = {fact.content: fact.scope for fact in scoped.list(**U)}
    assert {fact.content: fact.scope for fact in scoped.list(user_id="u2")} == scopes
    assert scoped.transfer.load(everything, user_id="u2") == 0
    own = [one for one in scoped.transfer.export(**U, agent_id="a") if one["kind"] != "export"]
    assert [one["kind"] for one in own] == ["message", "fact", "fact"]
    document = scoped.transfer.to_dict(**U, agent_id="a")
    assert scoped.transfer.from_dict(document, user_id="u3") == 3
    assert {fact.agent_id for fact in scoped.list(user_id="u3")} == {"a"}


# ---------------------------------------------------------------- metadata of merged facts


def test_a_fact_stated_again_keeps_tags_and_metadata_of_both(memory):
    memory.add("Likes tea", **U, tags=["x"], metadata={"ticket": 1, "team": "core"})
    memory.add("likes tea.", **U, tags=["y"], metadata={"ticket": 2, "link": "l"})
    fact = memory.add("Likes  tea", **U, metadata={"ticket": 2, "team": "core", "on": True})
    assert set(fact.tags) == {"x", "y"}
    assert fact.metadata == {
        "ticket": 1,
        "team": "core",
        "link": "l",
        "on": True,
        OTHER_VALUES: {"ticket": [2]},
    }


def test_values_are_kept_apart_by_their_kind():
    facts = [make_fact(n, metadata={"v": v}) for n, v in enumerate([1, True, "1", 1.5, None, 1])]
    assert united(facts) == {"v": 1, OTHER_VALUES: {"v": [True, "1", 1.5, None]}}


def test_a_callers_own_key_of_that_name_is_kept():
    facts = [make_fact(1, metadata={OTHER_VALUES: "mine"}), make_fact(2, metadata={"a": 1})]
    assert united(facts) == {"a": 1, OTHER_VALUES: {OTHER_VALUES: ["mine"]}}


METADATA = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(0, 3), st.booleans(), st.none()), max_size=3
)


@given(st.lists(METADATA, min_size=2, max_size=5))
def test_merging_loses_no_value(values):
    facts = [make_fact(n, metadata=one) for n, one in enumerate(values)]
    metadata = merged(facts).metadata
    others: Any = metadata.get(OTHER_VALUES, {})
    for one in values:
        for key, value in one.items():
            kept = [metadata[key], *others.get(key, [])]
            assert any(value is other or value == other for other in kept)
            assert repr(value) in map(repr, kept)


@given(st.lists(METADATA, min_size=2, max_size=3))
def test_taking_a_merge_back_takes_its_metadata_back(values):
    facts = [make_fact(n, metadata=one) for n, one in enumerate(values)]
    whole = merged(facts)
    kept = next(fact for fact in facts if fact.id == whole.id)
    assert without(whole, whole, kept).metadata == kept.metadata
