"""Figures of the packaged pair judge on writers that were in no training: one a set.

They are well below what docs/evaluation.md tells, and fall if a model is trained on a shortcut.
"""

import random

import numpy as np
import pytest

from semantic_memory.judging.packaged import PackagedPairJudge
from training.data import PAIR_LABELS, Pair, pairs

NEITHER, OVER, SAME = range(len(PAIR_LABELS))
EACH = 120
CHAT = (
    "Haha yeah that sounds like so much fun!",
    "omg no way, I can't believe it.",
    "Thanks for asking, it's been a busy week.",
    "That's great advice, I'll think about it.",
    "Hope you're doing well!",
)


@pytest.fixture(scope="module")
def judge() -> PackagedPairJudge:
    return PackagedPairJudge()


def drawn(label: int, *, voices: bool = False) -> list[Pair]:
    """Return held pairs of a label, by writers of whole sets or of chat voices."""
    rows = [
        row
        for row in pairs()
        if row.held and row.label == label and row.writer.startswith("voice: ") == voices
    ]
    return random.Random(7).sample(rows, min(EACH, len(rows)))


def scores(judge: PackagedPairJudge, rows: list[Pair], before: bool = False) -> np.ndarray:
    rng = random.Random(3)

    def told(text: str) -> str:
        return f"{rng.choice(CHAT)} {text}" if before else text

    return np.array([judge.verdict(told(row.older), told(row.newer)).over for row in rows])


def recall(updates: np.ndarray, others: np.ndarray, share: float = 0.05) -> float:
    """Return the share of updates above all but `share` of the others."""
    return float((updates > np.quantile(others, 1 - share)).mean())


@pytest.mark.parametrize(("voices", "least"), [(False, 0.6), (True, 0.5)])
def test_updates_of_unseen_writers_are_told_from_look_alikes(judge, voices, least):
    updates, others = drawn(OVER, voices=voices), drawn(NEITHER, voices=voices)
    assert recall(scores(judge, updates), scores(judge, others)) >= least


def test_no_style_stands_for_a_label(judge):
    updates, others = drawn(OVER), drawn(NEITHER)
    plain = recall(scores(judge, updates), scores(judge, others))
    behind_chat = recall(scores(judge, updates, before=True), scores(judge, others, before=True))
    assert behind_chat >= 0.65 * plain  # .64 of .89; a judge of styles keeps next to nothing


def test_repetitions_are_told_from_what_only_looks_alike(judge):
    same = np.array([judge.verdict(row.older, row.newer).same for row in drawn(SAME)])
    others = np.array([judge.verdict(row.older, row.newer).same for row in drawn(NEITHER)])
    assert recall(same, others) >= 0.5
