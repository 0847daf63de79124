from datetime import timedelta
from itertools import pairwise
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from semantic_memory import Category, Fact, SemanticMemory
from semantic_memory.consolidation.decisions import (
    ContestDecision,
    MarkDecision,
    MergeDecision,
    SupersedeDecision,
)
from semantic_memory.consolidation.fading import faded, retention
from semantic_memory.consolidation.merging import keeper, merged, without
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.facts import Source, Status
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import NOW, make_fact
from tests.support.effort import rounds
from tests.support.inside import inside
from tests.support.judges import READ, plain_pair_judge

EMBEDDER = HashEmbedder(128)
SENTENCES = [
    "Maya lives in Berlin.",
    "Maya lives in Rome",
    "Maya moved to Oslo.",
    "Maya resides in Rome.",
    "maya lives in rome",
    "Maya likes tea.",
    "Maya likes tea",
    "Maya no longer likes tea.",
    "Maya hates tea.",
    "Maya has two dogs.",
    "Maya has three dogs.",
    "Maya has no pets.",
]
ROLES = st.sampled_from([None, "user", "assistant"])
FACTS = st.lists(
    st.tuples(
        st.sampled_from(SENTENCES),
        st.integers(0, 3),
        st.sampled_from([0.7, 0.8, 0.9]),
        ROLES,
        st.sampled_from(["u1", "u2"]),
    ),
    max_size=9,
).map(
    lambda rows: [
        make_fact(
            number,
            content=content,
            confidence=confidence,
            user_id=user_id,
            created_at=NOW + timedelta(days=day),
            valid_from=NOW + timedelta(days=day),
            source=Source(role=role, message_ids=(f"m{number}",)),
        )
        for number, (content, day, confidence, role, user_id) in enumerate(rows)
    ]
)


def planned(facts):
    vectors = EMBEDDER.embed([fact.content for fact in facts], "document")
    return plan(facts, vectors, plain_pair_judge(), READ)


def swept(facts):
    left = {fact.id: fact for fact in facts}
    for decision in planned(facts):
        match decision:
            case SupersedeDecision() | MarkDecision():
                results: tuple[Fact, ...] = (decision.result(NOW),)
            case ContestDecision():
                results = decision.results
            case MergeDecision():
                results = (decision.result,)
        left |= {one.id: one for one in results}
        if isinstance(decision, MergeDecision):
            left |= {fact.id: fact for fact in decision.absorbed}
    return left


@settings(deadline=None)
@given(FACTS, st.randoms(use_true_random=False))
def test_the_plan_does_not_depend_on_the_order_of_the_facts(facts, dice):
    shuffled = list(facts)
    dice.shuffle(shuffled)
    assert swept(facts) == swept(shuffled)


@settings(deadline=None)
@given(FACTS)
def test_sweeping_merges_everything_there_is_to_merge(facts):
    left = list(swept(facts).values())
    again = [decision for decision in planned(left) if isinstance(decision, MergeDecision)]
    assert again == []


@settings(deadline=None)
@given(FACTS)
def test_superseding_never_runs_in_circles_nor_leaves_its_user(facts):
    by_id = {fact.id: fact for fact in facts}
    after = {
        decision.loser.id: decision.winner.id
        for decision in planned(facts)
        if isinstance(decision, SupersedeDecision)
    }
    for start in after:
        seen = [start]
        while seen[-1] in after:
            seen.append(after[seen[-1]])
            assert len(set(seen)) == len(seen)
        assert len({by_id[fact_id].user_id for fact_id in seen}) == 1


@settings(deadline=None)
@given(FACTS)
def test_something_of_every_subject_stays_believed(facts):
    left = swept(facts).values()
    for user_id in {fact.user_id for fact in facts}:
        assert any(fact.status is Status.ACTIVE for fact in left if fact.user_id == user_id)


CATEGORIES = st.sampled_from(list(Category))
DAYS = st.integers(0, 4000)


@given(CATEGORIES, DAYS, DAYS, st.integers(0, 100))
def test_retention_of_a_fact_falls_within_its_bounds(category, a, b, uses):
    fact = make_fact(category=category, use_count=uses)
    sooner, later = (NOW + timedelta(days=day) for day in sorted((a, b)))
    assert 0.1 <= retention(fact, later) <= retention(fact, sooner) <= 1.0


@given(CATEGORIES, st.lists(st.integers(0, 100_000), max_size=8))
def test_confidence_lost_does_not_depend_on_how_often_it_is_taken(category, minutes):
    moments = [NOW, *(NOW + timedelta(minutes=value) for value in sorted(minutes))]
    fact = make_fact(category=category, confidence=0.9)
    left = fact
    for since, now in pairwise(moments):
        left = faded(left, since, now)
    assert left == faded(fact, NOW, moments[-1])


DUPLICATES = st.lists(
    st.tuples(
        st.sampled_from(["Maya likes tea.", "Maya likes tea", "maya likes tea!"]),
        st.integers(0, 90),
        st.sampled_from([0.7, 0.8, 0.9]),
        st.sampled_from([(), ("food",), ("drinks",)]),
    ),
    min_size=2,
    max_size=7,
).map(
    lambda rows: [
        make_fact(
            number,
            content=content,
            confidence=confidence,
            tags=tags,
            created_at=NOW + timedelta(days=day),
            source=Source(message_ids=(f"m{number}",)),
        )
        for number, (content, day, confidence, tags) in enumerate(rows)
    ]
)


@given(DUPLICATES, st.randoms(use_true_random=False))
def test_what_survives_a_merge_does_not_depend_on_order_nor_on_merging_again(facts, dice):
    shuffled = list(facts)
    dice.shuffle(shuffled)
    once = merged(facts)
    assert merged(shuffled) == once
    assert merged([once]) == once
    again = merged([once, *(fact for fact in facts if fact.id != once.id)])
    assert (again.id, again.confidence, again.created_at) == (
        once.id,
        once.confidence,
        once.created_at,
    )
    assert set(again.message_ids) == set(once.message_ids) == {f"m{n}" for n in range(len(facts))}
    assert set(again.tags) == set(once.tags)


@given(DUPLICATES, st.data())
def test_taking_one_fact_out_of_a_merge_leaves_what_the_others_make(facts, data):
    kept = keeper(facts)
    out = data.draw(st.sampled_from([fact for fact in facts if fact.id != kept.id]))
    rest = [fact for fact in facts if fact.id != out.id]
    left = merged(rest) if len(rest) > 1 else kept
    undone = without(merged(facts), merged(facts), left)
    assert set(undone.message_ids) == set(left.message_ids)
    assert undone.confidence == pytest.approx(left.confidence)
    assert (undone.created_at, undone.confirmed_at) == (left.created_at, left.confirmed_at)
    assert set(undone.tags) == set(left.tags)


class Believing(RuleBasedStateMachine):
    """Facts are added, consolidated, restored and deleted in any order, on a real ledger."""

    def __init__(self):
        super().__init__()
        self.directory = TemporaryDirectory()
        self.clock = FrozenClock(NOW)
        self.memory = SemanticMemory.open(
            self.directory.name,
            settings=Settings(upkeep=UpkeepSettings(schedule=False)),
            embedder=EMBEDDER,
            index=InMemoryIndex(),
            clock=self.clock,
            observer=lambda event: None,
        )
        self.apart = []

    def everything(self):
        ledger = inside(self.memory).ledger
        return {fact.id: fact for fact in ledger.get(ledger.ids("u1"))}

    @rule(content=st.sampled_from(SENTENCES), confidence=st.sampled_from([0.7, 0.9]))
    def tell(self, content, confidence):
        self.memory.add(content, user_id="u1", confidence=confidence)
        self.clock.advance(days=1)

    @rule()
    def settle(self):
        self.memory.flush()

    @rule()
    def sweep(self):
        self.memory.jobs.run(["dedup", "conflicts"])

    # nothing is drawn from what is believed, which depends on when the background consolidated
    @rule(place=st.integers(0, 99))
    def restore(self, place):
        self.memory.flush()  # so that what replaced the fact is known
        gone = self.in_order(fact for fact in self.everything().values() if fact.superseded_by)
        if gone:
            chosen = gone[place % len(gone)]
            replaced_by = self.everything()[chosen.id].superseded_by
            self.memory.history.restore(chosen.id)
            self.apart.append((chosen.id, replaced_by))
            self.clock.advance(days=1)

    @rule(place=st.integers(0, 99))
    def delete(self, place):
        known = self.in_order(self.everything().values())
        if known:
            self.memory.delete(known[place % len(known)].id)

    @staticmethod
    def in_order(facts):
        return sorted(facts, key=lambda fact: (fact.created_at, fact.content, fact.id))

    @invariant()
    def chains_end(self):
        facts = self.everything()
        for fact in facts.values():
            assert (fact.status is Status.ACTIVE) == (fact.superseded_by is None)
            seen = {fact.id}
            while fact.superseded_by in facts:
                fact = facts[fact.superseded_by]
                assert fact.id not in seen
                seen.add(fact.id)

    @invariant()
    def what_was_told_apart_never_replaces_the_other(self):
        facts = self.everything()
        for restored, other in self.apart:
            if restored in facts:
                assert facts[restored].superseded_by != other
            if other in facts:
                assert facts[other].superseded_by != restored

    def teardown(self):
        self.memory.close()
        self.directory.cleanup()


Believing.TestCase.settings = settings(
    max_examples=rounds(full=25, quick=8), stateful_step_count=20, deadline=None, database=None
)
TestBelieving = Believing.TestCase
