"""Variants of updates in the words of talk, and look-alikes that leave the older statement.

Each line of the files is an older and a newer statement, parted by an arrow.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from semantic_memory.consolidation.renewal import renewal

FOLDER = Path(__file__).parents[1] / "support" / "renewals"


def pairs(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" <= ")) for line in lines]


@pytest.mark.parametrize(("older", "newer"), pairs("renewed.txt"))
def test_an_update_in_other_words_renews(older, newer):
    assert renewal(older, newer) is not None


@pytest.mark.parametrize(("older", "newer"), pairs("kept.txt"))
def test_what_only_looks_like_an_update_renews_nothing(older, newer):
    assert renewal(older, newer) is None


@pytest.mark.parametrize(("older", "newer"), pairs("corrected.txt"))
def test_a_short_correction_right_behind_takes_back_a_figure(older, newer):
    assert renewal(older, newer, apart=1) is not None


@pytest.mark.parametrize(("older", "newer"), pairs("not_corrected.txt"))
def test_another_figure_right_behind_takes_nothing_back(older, newer):
    assert renewal(older, newer, apart=1) is None
