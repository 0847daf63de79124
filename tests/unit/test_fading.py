from datetime import timedelta

import pytest

from semantic_memory import Category
from semantic_memory.consolidation.fading import (
    Fading,
    faded,
    retention,
    to_archive,
    used,
)
from semantic_memory.domain.decay import LONGEST, endurance
from semantic_memory.domain.facts import Source
from tests.conftest import NOW, make_fact

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)


def fact(number=1, **values):
    return make_fact(number, **{"category": Category.PROJECT, "confidence": 0.8, **values})


def test_a_half_life_leaves_a_half():
    assert retention(fact(), NOW + 60 * DAY) == pytest.approx(0.5)


def test_confirmation_starts_the_clock_anew():
    assert retention(fact(confirmed_at=NOW + 60 * DAY), NOW + 60 * DAY) == 1.0


def test_preferences_and_pinned_facts_never_fade():
    late = NOW + 3650 * DAY
    assert retention(fact(category=Category.PREFERENCE), late) == 1.0
    pinned = fact(tags=("pinned",), confidence=0.1)
    assert retention(pinned, late) == 1.0
    assert faded(pinned, NOW, late) == pinned
    assert to_archive([pinned], late, Fading(cap=0)) == []


def test_spaced_use_slows_fading_more_than_use_within_an_hour():
    crammed, spaced = fact(), fact()
    for number in range(8):
        crammed = used(crammed, NOW + number * timedelta(minutes=5))
        spaced = used(spaced, NOW + number * DAY)
    late = NOW + 90 * DAY
    assert retention(fact(), late) < retention(crammed, late) < retention(spaced, late)


def test_being_said_elsewhere_slows_fading():
    twice = fact(corroborations=(Source(message_ids=("m2",)),))
    assert retention(fact(), NOW + 90 * DAY) < retention(twice, NOW + 90 * DAY)


def test_no_use_stretches_a_half_life_beyond_its_bound():
    assert endurance(10_000, 10_000) <= LONGEST


def test_a_week_without_confirmation_costs_a_hundredth():
    assert faded(fact(), NOW, NOW + WEEK - HOUR).confidence == 0.8
    assert faded(fact(), NOW, NOW + WEEK).confidence == pytest.approx(0.79)


def test_an_hourly_sweep_takes_a_week_once():
    left, moment = fact(), NOW
    while moment < NOW + 3 * WEEK:
        left = faded(left, moment, moment + HOUR)
        moment += HOUR
    assert left.confidence == pytest.approx(0.77)


def test_archived_are_those_below_the_floor_then_the_least_sure_then_the_oldest():
    low = fact(1, confidence=0.2)
    unsure = fact(2, confidence=0.5)
    old = fact(3, confidence=0.6, created_at=NOW - DAY)
    young = fact(4, confidence=0.6)
    decisions = to_archive([young, old, unsure, low], NOW, Fading(cap=1))
    assert [decision.fact.id for decision in decisions] == ["fact-1", "fact-2", "fact-3"]
    assert "below 0.30" in decisions[0].reasons[0]
    assert "cap of 1" in decisions[1].reasons[0]


def test_verbatim_messages_are_neither_faded_nor_archived():
    message = fact(category=Category.CONVERSATION, confidence=0.1)
    assert faded(message, NOW, NOW + 52 * WEEK) == message
    assert to_archive([message], NOW, Fading(cap=0)) == []


def test_over_the_cap_what_lasts_is_kept_before_what_fades():
    lasting = fact(1, category=Category.PERSONAL, created_at=NOW - 400 * DAY)
    passing = fact(2, category=Category.FINDING, created_at=NOW - 30 * DAY)
    (decision,) = to_archive([lasting, passing], NOW, Fading(cap=1))
    assert decision.fact == passing
