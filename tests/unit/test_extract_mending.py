"""Corrections that are extracted whole, with what they correct."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime

import pytest

from ingest.extract.offline import OfflineExtractor
from semantic_memory.domain.english import mending
from semantic_memory.domain.messages import Message

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def facts(*said):
    messages = [
        Message(id=str(number), role=role, content=text, created_at=NOW)
        for number, (role, text) in enumerate(said)
    ]
    return OfflineExtractor().extract(messages).candidates


def test_the_examples_run():
    assert doctest.testmod(mending).failed == 0


@pytest.mark.parametrize(
    ("before", "correction", "fact"),
    [
        (
            "My locker is number 12.",
            "Sorry, I said 12, it's 21.",
            "The user's locker is number 21.",
        ),
        ("VPN port is 1194.", "My bad, it's 1195.", "VPN port is 1195."),
        ("My seat is 14C.", "not 14C, 41C", "The user's seat is 41C."),
        ("My tutor is Lena.", "It's Leena with two e's, not Lena.", "The user's tutor is Leena."),
    ],
)
def test_a_correction_is_a_fact_as_a_whole(before, correction, fact):
    found = facts(("user", before), ("user", correction))
    assert found[-1].content == fact
    assert found[-1].message_ids == ("1", "0")


def test_an_answer_to_a_question_corrects_nothing():
    found = facts(
        ("user", "My flat is 14."), ("assistant", "Do you have 14 keys?"), ("user", "No, 15.")
    )
    assert "The user's flat is 15." not in [one.content for one in found]


@pytest.mark.parametrize(
    ("before", "heard", "correction", "wrong"),
    [
        ("I have 2 kids.", "A car with 5 seats fits.", "No, 7.", "The user has 7 kids."),
        ("I moved in May.", "Noted.", "Wait, Monday.", "The user moved in Monday."),
        ("My daughter April is 4.", "Noted.", "Sorry, June.", "The user's daughter June is 4."),
    ],
)
def test_a_value_of_another_kind_or_of_another_speaker_isnt_corrected(
    before, heard, correction, wrong
):
    found = facts(("user", before), ("assistant", heard), ("user", correction))
    assert wrong not in [one.content for one in found]
