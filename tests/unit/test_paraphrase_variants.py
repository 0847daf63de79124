"""Statements in two wordings that make one claim, and near-duplicates that don't.

Each line of the files holds two statements, parted by "==".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from semantic_memory.domain.english.paraphrases import paraphrases

FOLDER = Path(__file__).parents[1] / "support" / "renewals"


def pairs(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" == ")) for line in lines]


@pytest.mark.parametrize(("one", "other"), pairs("one_claim.txt"))
def test_one_claim_is_read_in_both_wordings(one, other):
    assert paraphrases(one) & paraphrases(other)


@pytest.mark.parametrize(("one", "other"), pairs("other_claims.txt"))
def test_near_duplicates_make_other_claims(one, other):
    assert not paraphrases(one) & paraphrases(other)
