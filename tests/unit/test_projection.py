"""Vectors in two dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from semantic_memory.application.map import principal_components
from tests.conftest import unit_vectors


def test_the_axes_are_those_of_the_greatest_variance():
    rng = np.random.default_rng(0)
    spread = rng.standard_normal((200, 4)) * [5.0, 2.0, 0.1, 0.1]
    places, explained = principal_components(spread.astype(np.float32))
    expected = spread - spread.mean(axis=0)
    assert np.abs(np.corrcoef(places[:, 0], expected[:, 0])[0, 1]) > 0.999
    assert np.abs(np.corrcoef(places[:, 1], expected[:, 1])[0, 1]) > 0.999
    variances = spread.var(axis=0)
    assert explained == pytest.approx(variances[:2] / variances.sum(), rel=0.01)


def test_the_same_vectors_give_the_same_places_in_any_order():
    vectors = unit_vectors(50)
    order = np.random.default_rng(1).permutation(50)
    places, explained = principal_components(vectors)
    shuffled, same = principal_components(vectors[order])
    assert shuffled == pytest.approx(places[order], abs=1e-6)
    assert same == pytest.approx(explained)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_vectors_have_places_too(number):
    places, explained = principal_components(unit_vectors(number))
    assert places.shape == (number, 2)
    assert np.isfinite(places).all()
    assert 0 <= sum(explained) <= 1 + 1e-9


def test_vectors_that_are_all_the_same_lie_in_the_middle():
    places, explained = principal_components(np.ones((5, 3), np.float32))
    assert places == pytest.approx(np.zeros((5, 2)))
    assert explained == (0.0, 0.0)
