from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_memory import Category
from semantic_memory.maintenance.fading import faded, retention
from semantic_memory.maintenance.rules import RuleJudge
from semantic_memory.maintenance.sweep import MergeDecision, SupersedeDecision, plan
from semantic_memory.models import Source, Status
from semantic_memory.testing import HashEmbedder
from tests.conftest import NOW, make_fact

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
    return plan(facts, vectors, RuleJudge())


def swept(facts):
    left = {fact.id: fact for fact in facts}
    for decision in planned(facts):
        left[decision.result.id] = decision.result
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
