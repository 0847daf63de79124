from hypothesis import given
from hypothesis import strategies as st

from semantic_memory.domain.decay import CURVE, recency, retention

AGES = st.floats(0, 1e5)
HALF_LIVES = st.floats(0.01, 1e4) | st.just(float("inf"))


@given(AGES, AGES, HALF_LIVES)
def test_retention_lies_between_floor_and_one_and_never_rises_with_age(a, b, half_life):
    younger, older = sorted((a, b))
    assert CURVE.floor <= retention(older, half_life) <= retention(younger, half_life) <= 1


@given(AGES, AGES)
def test_recency_lies_between_one_and_one_and_a_half_and_never_rises_with_age(a, b):
    younger, older = sorted((a, b))
    assert 1 <= recency(older) <= recency(younger) <= 1.5


@given(AGES, AGES, AGES)
def test_a_use_never_lowers_recency_and_counts_at_most_half(age, used, later):
    assert recency(age) <= recency(age, used) <= max(float(recency(age)), 1.25)
    sooner, longer = sorted((used, later))
    assert recency(age, longer) <= recency(age, sooner)
