"""Secrets that sentences state, by the rows of `data/gold/secrets.jsonl`."""

import json
from pathlib import Path

import pytest

from ingest.gate import Gate
from ingest.gate.secrets import without_secrets
from semantic_memory import Candidate

GOLD = Path(__file__).parents[2] / "data" / "gold" / "secrets.jsonl"
ROWS = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
BUILD = [row for row in ROWS if row["half"] == "build"]
MOST_MEASURED = 6
"""Rows of the measured half, of 190, that are judged wrongly; nobody has read which."""


def is_wrong(row) -> bool:
    left = without_secrets(row["text"])
    if row["secrets"]:
        return any(secret in left for secret in row["secrets"])
    return bool(left != row["text"])


def test_a_stated_secret_is_masked_and_a_look_alike_stays():
    assert [row["text"] for row in BUILD if is_wrong(row)] == []


def test_sentences_that_only_measure_are_judged_as_well():
    wrong = [row["id"] for row in ROWS if row["half"] == "measure" and is_wrong(row)]
    assert len(wrong) <= MOST_MEASURED, wrong


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("my pin, the old one, is 4711.", "my pin, the old one, is [secret]."),
        ('Use "hunter-2" as the password!', 'Use "[secret]" as the password!'),
        ("the alarm takes four four one two, ok?", "the alarm takes [secret], ok?"),
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
