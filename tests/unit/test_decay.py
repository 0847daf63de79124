import math

import numpy as np
import pytest

from semantic_memory.domain.decay import HALF_LIFE_DAYS, Curve, age_days, recency, retention
from semantic_memory.domain.facts import Category


def test_retention_halves_in_a_half_life_and_has_a_floor():
    assert retention([0, 60, 120, 10_000], 60).tolist() == [1.0, 0.5, 0.25, 0.1]


def test_what_has_no_half_life_never_fades():
    assert retention(1e6, math.inf) == 1.0


def test_recency_goes_from_one_and_a_half_to_one():
    assert recency(0) == 1.5
    assert recency(7) == 1.25
    assert recency(1e4) == pytest.approx(1.0)


def test_a_use_counts_half_as_much_for_recency_as_a_statement():
    assert recency(1e4, 0) == pytest.approx(1.25)
    assert recency(0, 0) == 1.5
    assert recency(7, 0) == 1.25
    assert recency(7, 7) == 1.25


def test_floor_boost_and_its_half_life_can_be_set():
    curve = Curve(floor=0.3, boost=1.0, boost_half_life_days=1.0, use_share=1.0)
    assert retention(1e4, 60, curve) == 0.3
    assert recency(1, math.inf, curve) == 1.5
    assert recency(1e4, 1, curve) == pytest.approx(1.5)


def test_the_future_has_no_age():
    assert age_days(np.array([2e5]), 1e5).tolist() == [0.0]


def test_every_category_has_a_half_life():
    assert set(HALF_LIFE_DAYS) == set(Category)
