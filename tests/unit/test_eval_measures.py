import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures import measure

RANKING = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("name", "relevant", "value"),
    [
        ("Success@1", {"b"}, 0.0),
        ("Success@2", {"b"}, 1.0),
        ("Recall@2", {"b", "d"}, 0.5),
        ("Recall@4", {"b", "d", "missing"}, 2 / 3),
        ("AllRecall@3", {"b", "d"}, 0.0),
        ("AllRecall@4", {"b", "d"}, 1.0),
        ("MRR@10", {"c", "d"}, 1 / 3),
        ("MRR@2", {"c"}, 0.0),
        ("nDCG@10", {"a"}, 1.0),
        ("nDCG@10", {"b", "c"}, (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
    ],
)
def test_a_measure_is_what_its_definition_says(name, relevant, value):
    assert measure(name)(RANKING, relevant) == pytest.approx(value)


@pytest.mark.parametrize("name", ["Success@5", "Recall@5", "AllRecall@5", "MRR@5", "nDCG@5"])
def test_an_unanswered_question_counts_as_zero(name):
    assert measure(name)([], {"a"}) == 0.0


@pytest.mark.parametrize("name", ["recall@10", "Recall", "Recall@", "Precision@3", "Recall@0"])
def test_an_unknown_measure_is_refused(name):
    with pytest.raises(ValueError, match="measure"):
        measure(name)


@given(
    st.permutations([str(n) for n in range(8)]), st.sets(st.sampled_from("01234567"), min_size=1)
)
def test_measures_stay_between_zero_and_one_and_a_perfect_order_has_one(ranking, relevant):
    best = sorted(ranking, key=lambda one: one not in relevant)
    for name in ("Success@8", "Recall@8", "AllRecall@8", "MRR@8", "nDCG@8"):
        assert 0 <= measure(name)(ranking, relevant) <= 1
        assert measure(name)(best, relevant) == pytest.approx(1.0)
