"""Vectors of half precision, against numpy's own arithmetic."""

import numpy as np

from semantic_memory.retrieval.growing import GrowingVectors


def test_half_precision_gives_the_cosines_that_numpy_gives():
    dice = np.random.default_rng(3)
    rows = [dice.standard_normal((2, 8)).astype(np.float32) * 10.0**-place for place in range(9)]
    vector = dice.standard_normal(8).astype(np.float32)
    halves = GrowingVectors(8, np.float16)
    halves.extend(range(9), rows)
    found = np.full(9, -np.inf, dtype=np.float32)
    halves.view.best(vector, None, found)
    widened = [own.astype(np.float16).astype(np.float32) for own in rows]
    expected = [np.einsum("ij,j->i", own, vector).max() for own in widened]
    assert found.tolist() == expected


def test_only_wanted_owners_are_compared():
    halves = GrowingVectors(4, np.float16)
    halves.extend([0, 1], [np.ones((1, 4), np.float32), np.ones((1, 4), np.float32)])
    found = np.zeros(2, dtype=np.float32)
    halves.view.best(np.ones(4, np.float32), np.array([False, True]), found)
    assert found.tolist() == [0.0, 4.0]
