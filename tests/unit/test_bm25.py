import math

import numpy as np
import pytest

from semantic_memory.retrieval.bm25 import BM25, K1, B


def index(*texts: str) -> BM25:
    bm25 = BM25()
    bm25.extend([text.split() for text in texts])
    return bm25


def all_of(bm25: BM25) -> np.ndarray:
    return np.ones(len(bm25), dtype=bool)


def test_scores_follow_the_formula():
    bm25 = index("a a b", "b c", "c d e f")
    scores = bm25.score(["a", "c"], all_of(bm25))
    idf_a, idf_c = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    norm = K1 * (1 - B + B * 3 / 3)
    expected = idf_a * 2 * (K1 + 1) / (2 + norm) / ((idf_a + idf_c) * (K1 + 1))
    assert scores[0] == pytest.approx(expected, rel=1e-6)
    assert 0 < scores[2] < scores[1] < 1


def test_dead_texts_neither_score_nor_count():
    bm25 = index("a b", "a c", "d e")
    alive = np.array([True, False, True])
    assert bm25.score(["a"], alive)[0] == pytest.approx(
        index("a b", "d e").score(["a"], np.ones(2, bool))[0]
    )
    assert bm25.score(["a"], alive)[1] == 0


def test_a_term_that_no_text_holds_lowers_the_scores():
    bm25 = index("a b", "c d")
    assert bm25.score(["a", "z"], all_of(bm25))[0] < bm25.score(["a"], all_of(bm25))[0]


def test_repeating_a_term_in_the_query_changes_nothing():
    bm25 = index("a b", "c d")
    once, twice = (bm25.score(query, all_of(bm25)) for query in (["a"], ["a", "a"]))
    assert once.tolist() == twice.tolist()


def test_texts_can_be_added_after_a_query():
    bm25 = index("a b")
    bm25.score(["a"], all_of(bm25))
    bm25.extend([["a"]])
    assert (bm25.score(["a"], all_of(bm25)) > 0).all()


def test_an_empty_query_or_index_scores_zero():
    assert index("a").score([], np.ones(1, bool)).tolist() == [0]
    assert BM25().score(["a"], np.zeros(0, bool)).tolist() == []


@pytest.mark.parametrize("claimed", [0, 1, 5, 40, 10_000])
@pytest.mark.parametrize("total", [1, 5, 50])
def test_scores_stay_within_bounds_whatever_the_statistics_claim(total, claimed):
    bm25 = index("a a a a a a a a", "a b", "c")
    scores = bm25.score(["a", "b", "z"], all_of(bm25), statistics=(total, lambda _: claimed))
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert scores[0] > 0


def test_statistics_of_the_whole_make_a_sample_score_as_the_whole_does():
    texts = ["a b", "a c", "b d", "e f", "g h", "a i"]
    whole, sample = index(*texts), index(*texts[:3])
    counts = {"a": 3, "b": 2}
    scores = sample.score(["a", "b"], all_of(sample), statistics=(6, lambda t: counts.get(t, 0)))
    assert scores.tolist() == pytest.approx(whole.score(["a", "b"], all_of(whole))[:3].tolist())
