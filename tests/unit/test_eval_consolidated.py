"""Sets of contradicting facts and of what rests on another, and how they are measured."""

from __future__ import annotations

import json

import pytest

from eval.cascades import Case, Outcome, outcomes
from eval.cascades import shares as shares_of_cases
from eval.consolidated import Answer, Row, answers, shares
from eval.gold import read_gold
from semantic_memory.testing import HashEmbedder


def test_the_shipped_sets_have_200_facts_and_106_cases():
    rows = read_gold("fact_consolidation", Row)
    assert [row.n for row in rows] == list(range(200))
    assert len({row.question for row in rows}) == 80
    assert all(row.fact.find(row.value) >= 0 for row in rows)
    assert len(read_gold("cascade", Case)) == 106


def test_the_newest_of_contradicting_facts_is_told_from_the_older_ones(tmp_path):
    file = tmp_path / "facts.jsonl"
    told = ("Ola Ness", "Ann Lie", "Kim Dahl")
    rows = [
        {
            "n": number,
            "fact": f"Alma Kowal's spouse is {value}",
            "question": "Who is Alma Kowal's spouse?",
            "value": value,
        }
        for number, value in enumerate(told)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (answer,) = answers(HashEmbedder(), file)
    assert answer.values == told
    assert {*answer.ranked, *answer.shown} <= {*told}
    assert answer.in_block


@pytest.mark.parametrize(
    ("ranked", "shown", "expected"),
    [
        (("new", "old"), ("old", "new"), [1.0, 1.0, 1.0]),
        (("old", "new"), ("new", "old"), [0.0, 1.0, 0.0]),
        ((), (), [0.0, 0.0, 0.0]),
    ],
)
def test_shares_of_questions(ranked, shown, expected):
    assert [*shares([Answer("?", ("old", "new"), ranked, shown)]).values()] == expected


def test_what_refers_to_a_fallen_fact_is_found_and_nothing_apart_from_it(tmp_path):
    case = {
        "half": "build",
        "kind": "referenced",
        "basis": "The lease ends in September.",
        "rests": ["Looks for a flat from August on"],
        "apart": ["Prefers window seats"],
        "deleted": True,
    }
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(case) + "\n", encoding="utf-8")
    (one,) = outcomes(HashEmbedder(), file)
    assert (one.fell, one.found, one.wrong, one.retired) == (True, 1, 0, 0)


def test_a_basis_that_stands_counts_for_nothing():
    case = Case(half="build", kind="because", basis="b", rests=("r",), apart=("a",), deleted=True)
    fallen = Outcome(case, fell=True, found=0, wrong=1, retired=0)
    stood = Outcome(case, fell=False, found=1, wrong=0, retired=0)
    figures = shares_of_cases([fallen, stood])
    assert (figures["all"]["cases"], figures["because"]["found"]) == (1, 0.0)
    assert figures["all"]["wrongly marked"] == 1


@pytest.mark.parametrize("missing", [{"kind": "because"}, {"kind": "unsaid", "basis": "b"}])
def test_a_case_states_its_basis_unless_what_rests_on_it_does(missing):
    with pytest.raises(ValueError, match="give a basis"):
        Case(half="build", rests=("r",), apart=("a",), said="s", **missing)
