"""Vectors of half precision, against numpy's own arithmetic."""

import numpy as np

from semantic_memory.retrieval.growing import GrowingVectors, Vectors


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


def test_cosines_are_those_of_first_vectors_in_runs_and_with_gaps():
    dice = np.random.default_rng(7)
    rows = dice.standard_normal((300, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    begun = Vectors(np.arange(100), rows[:100])
    vectors = GrowingVectors(384, np.float32, begun)
    several = [rows[100 + place : 101 + place + place % 4 // 2] for place in range(0, 198, 2)]
    vectors.extend(range(100, 199), several)  # every other one has a second
    first = np.concatenate((rows[:100], rows[100:298:2]))
    for others in (range(20, 180), [*range(0, 199, 3)], [150, 151, 149, 3], range(199)):
        found = vectors.view.cosines([120, 4, 5, 198], list(others))
        assert np.allclose(found, first[[120, 4, 5, 198]] @ first[list(others)].T, atol=1e-5)
