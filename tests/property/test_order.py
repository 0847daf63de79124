"""The order of rows by score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semantic_memory.retrieval.order import descending, top

scores = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), max_size=300).map(np.array)


@given(scores=scores, number=st.integers(0, 310))
def test_the_top_is_the_beginning_of_a_stable_sort(scores, number):
    whole = np.argsort(-scores, kind="stable")
    assert top(scores, number).tolist() == whole[:number].tolist()


@given(scores=scores)
def test_all_rows_come_in_the_order_of_a_stable_sort(scores):
    assert list(descending(scores)) == np.argsort(-scores, kind="stable").tolist()
