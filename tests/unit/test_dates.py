"""Relative dates get the date that is meant behind them."""

import json
import re
from datetime import UTC, datetime

import pytest

from semantic_memory.domain.english.relative_dates import dated_in_place
from tests.conftest import DATA

JANUARY = datetime(2026, 1, 10, 9, tzinfo=UTC)  # a Saturday
MARCH = datetime(2026, 3, 5, tzinfo=UTC)
DATE = re.compile(r" \((?:week of )?\d{4}[\d-]*\)")

DATED_IN_JANUARY = """
I'm moving to Berlin in March (2026-03)
I left yesterday (2026-01-09)
I ran yesterday morning (2026-01-09)
I leave tonight
I have no plans for today
I met him last Friday (2026-01-09)
I have a meeting next Tuesday (2026-01-13)
I went to Rome last week (week of 2025-12-29)
I went there last weekend (2026-01-03)
I finished 3 months ago (2025-10)
I moved here two years ago (2024)
I bought it a couple of weeks ago (2025-12-27)
I will go in 3 days (2026-01-13)
I painted it last summer (2025)
I will marry next spring (2026)
I ran a race last May (2025-05)
I'm going on the 5th of May (2026-05-05)
I moved here about a year ago (2025)
I got it last month (2025-12)
This year (2026) I learn to sail
The visit is announced for 18 May (2026-05-18)
It had to wait, it's on 16 June (2026-06-16) now
We booked a room for 12 August (2026-08-12)
The talk was moved to 3 March (2026-03-03)
We moved to Oslo on 3 December (2025-12-03)
""".strip().splitlines()

RECURRING_VAGUE_OR_ABSOLUTE = """
I was born in May
My birthday is on March 5th
We camp every summer
My exam is on Tuesday
I was there in January 2020
I may go soon
I march in the rain
""".strip().splitlines()

OF_EACH_CLAUSE = """
We agreed to launch in October (2026-10)
I promised Tom I'd help him move in April (2026-04)
I booked a flight for May (2026-05)
We planned the wedding for June (2026-06)
She said she would visit us in July (2026-07)
We hired someone who starts in April (2026-04)
I quit because the new job starts in April (2026-04)
My sister visited in January (2026-01) and will come back in June (2026-06)
In August (2025-08) we got married, and in June (2026-06) we'll celebrate
I was hired in October (2025-10) to start in April (2026-04)
The exam I failed in November (2025-11) is repeated in May (2026-05)
I bought the tickets in November (2025-11) for June (2026-06)
He moved out in February (2026-02), which was hard
We came back in November (2025-11)
I was there back in June (2025-06)
""".strip().splitlines()

NOT_KNOWN_TO_HAVE_BEEN = """
I wanted to move in October
They told me to come back in May
I signed up for a run in September
My nephew was due in April
The results came and the consultant sees me on Thursday
We made 14,200 in two days
I haven't had a drink in four years
""".strip().splitlines()


def wrong(lines: list[str], said: datetime) -> list[str]:
    """Return the lines that are dated in another way than they stand, said without their dates."""
    found = [dated_in_place(DATE.sub("", line), said) for line in lines]
    return [got for got, line in zip(found, lines, strict=True) if got != line]


def test_relative_dates_get_the_date_that_is_meant():
    assert wrong(DATED_IN_JANUARY, JANUARY) == []


def test_what_recurs_or_is_vague_or_absolute_stays_as_it_is():
    assert wrong(RECURRING_VAGUE_OR_ABSOLUTE, JANUARY) == []


def test_each_clause_has_its_own_time():
    assert wrong(OF_EACH_CLAUSE, MARCH) == []


def test_what_may_have_been_or_not_and_how_long_it_took_stay_as_they_are():
    assert wrong(NOT_KNOWN_TO_HAVE_BEEN, MARCH) == []


@pytest.mark.parametrize("held", [False, True])
def test_tenses_tell_the_direction_of_dates_and_quotations_stay_as_they_are(held):
    lines = (DATA / "gold" / "dates.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("held", False) == held]
    undated: list[str] = []
    wrongly: list[str] = []
    for row in rows:
        text = dated_in_place(row["text"], datetime.fromisoformat(row["said"]))
        found = re.findall(r"\(((?:week of )?\d{4}[\d-]*)\)", text)
        if found != ([row["date"]] if row["date"] else []):
            (wrongly if found else undated).append(row["text"])
    assert len(rows) == 120
    assert wrongly == []
    assert len(undated) <= 5, undated


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("In May we moved to Leeds.", "2026-05"),
        ("On 4 May we got married.", "2026-05-04"),
        ("We may move to Leeds in May.", "2027-05"),
        ("We might move to Leeds in May.", "2027-05"),
        ("It might have rained in May.", "2026-05"),
        ("Is she leaving in May?", "2027-05"),
        ("We left before June.", "2026-06"),
        ("I have to leave after August.", "2026-08"),
    ],
)
def test_may_is_a_month_or_a_modal_and_modals_look_ahead(text, date):
    assert f"({date})" in dated_in_place(text, datetime(2026, 7, 10, tzinfo=UTC))
