"""A search shows a fact in the place of the question that it answers."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semantic_memory.retrieval.search import _distinct

ANSWER, QUESTION, FACT = range(3)


@pytest.mark.parametrize(
    ("scores", "order", "shown"),
    [
        ([0.5, 0.8, 0.75], [QUESTION, FACT, ANSWER], [FACT]),
        ([0.5, 0.8, 0.4], [QUESTION, ANSWER, FACT], [QUESTION, ANSWER]),
        ([0.9, 0.8, 0.75], [ANSWER, QUESTION, FACT], [ANSWER, QUESTION]),
        ([0.5, 0.7, 0.8], [FACT, QUESTION, ANSWER], [FACT]),
    ],
)
def test_a_fact_comes_where_the_question_that_it_answers_would_have_come(scores, order, shown):
    snapshot: Any = SimpleNamespace(
        columns={"verbatim": np.array([True, True, False]), "asks": np.array([False, True, True])},
        said_in=[("s/7",), ("s/6",), ("s/6", "s/7")],
    )
    assert [*_distinct(snapshot, np.array(scores), iter(order))] == shown
