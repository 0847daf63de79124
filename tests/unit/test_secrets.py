"""Secrets of the rows of `data/gold/secrets.jsonl`."""

import json
from pathlib import Path

import pytest

from ingest.gate import Gate
from ingest.gate.secrets import without_secrets
from semantic_memory import Candidate

GOLD = Path(__file__).parents[2] / "data" / "gold" / "secrets.jsonl"
ROWS = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
BUILD = [row for row in ROWS if row["half"] == "build"]
MOST_MEASURED = 10
"""Rows of the measured half, of 190, that are judged wrongly; nobody has read which."""


def is_wrong(row) -> bool:
    left = without_secrets(row["text"])
    if row["secrets"]:
        return any(secret in left for secret in row["secrets"])
    return bool(left != row["text"])


MOST_LEFT = 0.05
"""Share of secrets that neither a noun nor the judge tells: phrases of plain words, gestures."""
MOST_MASKED = 0.04
"""Share of look-alikes in which the judge sees a secret: numbers and odd tokens."""


def test_a_secret_is_masked_and_a_look_alike_stays():
    hiding = [row for row in BUILD if row["secrets"]]
    left = [row["text"] for row in hiding if is_wrong(row)]
    assert len(left) <= MOST_LEFT * len(hiding), left
    others = [row for row in BUILD if not row["secrets"]]
    masked = [row["text"] for row in others if is_wrong(row)]
    assert len(masked) <= MOST_MASKED * len(others), masked


def test_sentences_that_only_measure_are_judged_as_well():
    wrong = [row["id"] for row in ROWS if row["half"] == "measure" and is_wrong(row)]
    assert len(wrong) <= MOST_MEASURED, wrong


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("my pin, the old one, is 4711.", "my pin, the old one, is [secret]."),
        ('Use "hunter-2" as the password!', 'Use "[secret]" as the password!'),
        ("the alarm code is four four one two, ok?", "the alarm code is [secret], ok?"),
    ],
)
def test_what_is_around_a_secret_stays(text, left):
    assert without_secrets(text) == left


def test_no_fact_is_what_is_left_of_a_secret():
    rest = Candidate(
        content="Maya's password is [secret]",
        category="personal",
        confidence=0.9,
        message_ids=("m1",),
    )
    assert Gate().admit([rest]).refused == {"secret": 1}
    assert Gate(secrets="keep").admit([rest]).admitted
