"""Profiles and histories follow from any facts."""

from datetime import timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_memory.domain.facts import Category
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.profile import TIERS, TierAges
from semantic_memory.profile.central import most_central
from semantic_memory.profile.core import derive_core
from semantic_memory.profile.history import Extent, derive_history
from tests.conftest import NOW, make_fact, unit_vectors
from tests.support.effort import rounds
from tests.support.judges import READ

EXTENTS = {tier: Extent(4, 40) for tier in TIERS}
AGES = TierAges(timedelta(days=30), timedelta(days=180))
WORDS = (
    "Maya",
    "Oslo",
    "storage",
    "team",
    "ships",
    "2026",
    "likes",
    "Rust",
    "has",
    "sister",
    "vegan",
)


def words(text):
    return len(text.split())


@st.composite
def beliefs(draw):
    number = draw(st.integers(0, 25))
    vectors = unit_vectors(max(1, number), seed=draw(st.integers(0, 99)))
    found = []
    for place in range(number):
        fact = make_fact(
            place,
            content=" ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9))),
            category=draw(st.sampled_from(sorted(set(Category) - {Category.CONVERSATION}))),
            confidence=draw(st.floats(0, 1)),
            created_at=NOW - timedelta(days=draw(st.integers(0, 400))),
        )
        found.append(Belief(fact, vectors[place], place))
    return found


@given(beliefs(), st.randoms())
@settings(max_examples=rounds(full=60, quick=20), deadline=None)
def test_what_is_derived_does_not_depend_on_order_and_keeps_to_its_extents(found, random):
    def derived(facts):
        return (
            derive_core([belief.fact for belief in facts], READ, 3),
            derive_history(facts, words, NOW, EXTENTS, AGES),
        )

    profile, history = derived(found)
    shuffled = random.sample(found, len(found))
    assert derived(shuffled) == (profile, history)
    told = [fact.id for facts in profile.values() for fact in facts]
    assert len(told) == len(set(told))
    for facts in profile.values():
        assert len(facts) <= 3
    for tier, facts in history.items():
        assert len(facts) <= 4
        assert sum(len(fact.content.split()) for fact in facts) <= 40
        assert {AGES.tier_of(fact.created_at, NOW) for fact in facts} <= {tier}
        assert list(facts) == sorted(facts, key=lambda fact: (fact.created_at, fact.id))


@given(st.integers(1, 20), st.integers(0, 5), st.integers(0, 60), st.integers(0, 99))
@settings(max_examples=rounds(full=60, quick=20), deadline=None)
def test_the_most_central_are_within_most_and_room(number, most, room, seed):
    rows = list(unit_vectors(number, seed=seed))
    rng = np.random.default_rng(seed)
    weights, costs = rng.random(number).tolist(), rng.integers(1, 30, number).tolist()
    texts = list(map(str, range(number)))
    chosen = most_central(rows, weights, texts, lambda text: costs[int(text)], most=most, room=room)
    assert len(chosen) == len(set(chosen)) <= most
    assert sum(costs[place] for place in chosen) <= room
    left = room - sum(costs[place] for place in chosen)
    if len(chosen) < most:  # nothing that would have fitted was left out
        assert all(cost > left for place, cost in enumerate(costs) if place not in chosen)
