import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from semantic_memory.retrieval.ranking import Evidence, Weights, lent, rank
from semantic_memory.settings import RetrievalSettings

COLUMNS = [
    ("slot", "i4"), ("session", "i4"), ("asks", "?"),
    ("importance", "f8"), ("confidence", "f8"), ("stated_at", "f8"),
    ("used_at", "f8"), ("endurance", "f8"), ("corroborations", "i4"),
]  # fmt: skip
SLOTS = [("session", "i4"), ("before", "i4"), ("behind", "i4"), ("asks", "?")]
WEIGHTS = Weights(**RetrievalSettings().model_dump())


def columns(*slots: int) -> Any:
    return np.array(
        [(slot, 0, False, 0.5, 1.0, 0.0, -math.inf, 1.0, 0) for slot in slots], dtype=COLUMNS
    )


def conversation(size: int, asks: tuple[int, ...] = ()) -> np.ndarray:
    return np.array(
        [(0, n - 1, n + 1 if n + 1 < size else -1, n in asks) for n in range(size)], dtype=SLOTS
    )


def everyone(number: int) -> np.ndarray:
    return np.ones(number, dtype=bool)


def test_what_stands_alone_is_lent_its_own_score():
    base = np.array([0.5, 0.2])
    alone = lent(base, everyone(2), columns(-1, -1), np.zeros(0, SLOTS), 0, WEIGHTS)
    assert alone == pytest.approx(base * WEIGHTS.lent)


def test_a_neighbour_lends_from_its_score_and_an_outsider_nothing():
    base = np.array([0.8, 0.0, 0.0])
    context = lent(base, everyone(3), columns(0, 1, 2), conversation(3), 1, WEIGHTS)
    assert context[1] == pytest.approx(0.8 * (WEIGHTS.neighbour + WEIGHTS.session))
    assert context[2] == pytest.approx(0.8 * WEIGHTS.session)


def test_an_answer_is_lent_more_by_the_question_before_it():
    base = np.array([0.8, 0.0, 0.0])
    context = lent(base, everyone(3), columns(0, 1, 2), conversation(3, asks=(0,)), 1, WEIGHTS)
    assert context[1] == pytest.approx(0.8 * WEIGHTS.lent)


def test_what_a_filter_keeps_out_lends_nothing():
    base = np.array([0.8, 0.0])
    admitted = np.array([False, True])
    assert lent(base, admitted, columns(0, 1), conversation(2), 1, WEIGHTS)[1] == 0.0


def ranked(
    dense,
    lexical,
    cols=None,
    named=None,
    own=None,
    timely=None,
    weights=WEIGHTS,
    slots=None,
    now=0.0,
    half=math.inf,
):
    number = len(dense)
    cols = columns(*[-1] * number) if cols is None else cols
    evidence = Evidence(
        dense=np.array(dense, np.float32),
        lexical=np.array(lexical, np.float32),
        named=np.zeros(number, bool) if named is None else np.array(named),
        own=np.zeros(number, bool) if own is None else np.array(own),
        timely=np.zeros(number) if timely is None else np.array(timely),
        outdated=np.zeros(number, bool),
    )
    return rank(
        evidence,
        admitted=everyone(number),
        columns=cols,
        slots=np.zeros(0, SLOTS) if slots is None else slots,
        sessions=1,
        half_lives=np.full(number, half),
        now=now,
        weights=weights,
    )


def test_a_perfect_match_scores_one_at_most():
    perfect = ranked([1.0], [1.0], named=[True], own=[True], timely=[1.0])
    assert perfect.match[0] == pytest.approx(1.0)


def test_neither_arm_gates_the_other():
    equal = replace(WEIGHTS, dense=0.5)
    result = ranked([0.9, 0.0, 0.0], [0.0, 0.9, 0.0], weights=equal)
    assert result.score[0] == pytest.approx(result.score[1])
    assert result.score[0] > result.score[2] == 0


def test_a_memory_of_someone_named_comes_first_among_equals():
    result = ranked([0.5, 0.5], [0.0, 0.0], named=[False, True])
    assert result.score[1] > result.score[0]


def test_what_the_user_said_comes_first_where_they_ask_about_themselves():
    result = ranked([0.5, 0.5], [0.0, 0.0], own=[False, True])
    assert result.score[1] > result.score[0]


def test_what_was_said_at_the_time_asked_for_comes_first():
    result = ranked([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], timely=[0.0, 1.0, 0.5])
    assert result.score[1] > result.score[2] > result.score[0]


def test_a_question_is_no_answer_among_equals():
    cols = columns(-1, -1)
    cols["asks"] = [True, False]
    result = ranked([0.5, 0.5], [0.0, 0.0], cols)
    assert result.score[1] > result.score[0]
    assert ranked([0.0], [0.0], cols[:1]).match[0] == 0.0


def test_relevance_decides_between_equals_and_no_more():
    cols = columns(-1, -1, -1)
    cols["confidence"] = [1.0, 0.5, 1.0]
    result = ranked([0.5, 0.5, 0.7], [0.5, 0.5, 0.7], cols)
    assert result.score[2] > result.score[0] > result.score[1]
    cols["confidence"] = [1.0, 1.0, 0.1]
    assert ranked([0.5, 0.5, 0.7], [0.5, 0.5, 0.7], cols).score[2] > result.score[0]


def test_at_weight_one_the_score_is_the_pure_product():
    cols = columns(-1)
    day = 86_400.0
    result = ranked(
        [0.6], [0.6], cols, weights=replace(WEIGHTS, relevance=1.0), now=60 * day, half=60.0
    )
    expected = result.match[0] * 0.5 * 1.0 * 0.5 * (1 + 0.5 * 2 ** (-60 / 7))
    assert result.score[0] == pytest.approx(expected)


def test_recency_is_for_what_fades():
    lasting, fading = ranked([0.6], [0.6], half=math.inf), ranked([0.6], [0.6], half=14.0)
    assert (lasting.recency[0], fading.recency[0]) == (1.0, 1.5)


def test_a_memory_stated_again_comes_first_among_equals():
    cols = columns(-1, -1)
    cols["corroborations"] = [0, 2]
    result = ranked([0.6, 0.6], [0.6, 0.6], cols)
    assert result.score[1] > result.score[0]
    assert result.standing.tolist() == pytest.approx([1.0, 1.225])


def test_a_negative_cosine_counts_as_none():
    assert ranked([-0.5], [0.0]).match[0] == 0.0
