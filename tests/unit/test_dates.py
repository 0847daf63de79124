import json
import re
from datetime import UTC, datetime

import pytest

from semantic_memory.domain.english.relative_dates import absolute_dates, dated_in_place
from tests.conftest import DATA

SAID = datetime(2026, 1, 10, 9, tzinfo=UTC)  # a Saturday


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm moving to Berlin in March", "I'm moving to Berlin in March 2026"),
        ("I left yesterday", "I left on 9 January 2026"),
        ("I ran yesterday morning", "I ran on the morning of 9 January 2026"),
        ("I leave tonight", "I leave on the evening of 10 January 2026"),
        ("I met him last Friday", "I met him on Friday, 9 January 2026"),
        ("I have a meeting next Tuesday", "I have a meeting on Tuesday, 13 January 2026"),
        ("I went to Rome last week", "I went to Rome in the week of 29 December 2025"),
        ("I went there last weekend", "I went there on the weekend of 3 January 2026"),
        ("I finished 3 months ago", "I finished in October 2025"),
        ("I moved here two years ago", "I moved here in 2024"),
        ("I bought it a couple of weeks ago", "I bought it around 27 December 2025"),
        ("I will go in 3 days", "I will go on 13 January 2026"),
        ("I painted it last summer", "I painted it in the summer of 2025"),
        ("I will marry next spring", "I will marry in the spring of 2026"),
        ("I ran a race last May", "I ran a race in May 2025"),
        ("I'm going on the 5th of May", "I'm going on 5 May 2026"),
        ("I have no plans for today", "I have no plans for 10 January 2026"),
        ("I moved here about a year ago", "I moved here about 2025"),
        ("I got it last month", "I got it in December 2025"),
        ("This year I learn to sail", "in 2026 I learn to sail"),
        ("The visit is announced for 18 May", "The visit is announced for 18 May 2026"),
        ("It had to wait, it's on 16 June now", "It had to wait, it's on 16 June 2026 now"),
        ("We booked a room for 12 August", "We booked a room for 12 August 2026"),
        ("The talk was moved to 3 March", "The talk was moved to 3 March 2026"),
        ("We moved to Oslo on 3 December", "We moved to Oslo on 3 December 2025"),
    ],
)
def test_relative_dates_are_made_absolute(said, told):
    assert absolute_dates(said, SAID) == told


@pytest.mark.parametrize(
    "said",
    [
        "I was born in May",
        "My birthday is on March 5th",
        "We camp every summer",
        "My exam is on Tuesday",  # of this week or of every week
        "I was there in January 2020",
        "I may go soon",
        "I march in the rain",
    ],
)
def test_what_recurs_or_is_vague_or_absolute_stays_as_it_is(said):
    assert absolute_dates(said, SAID) == said


MARCH = datetime(2026, 3, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We agreed to launch in October", "We agreed to launch in October 2026"),
        ("I promised Tom I'd help him move in April", "in April 2026"),
        ("I booked a flight for May", "for May 2026"),
        ("We planned the wedding for June", "for June 2026"),
        ("She said she would visit us in July", "in July 2026"),
        ("We hired someone who starts in April", "in April 2026"),
        ("I quit because the new job starts in April", "in April 2026"),
        ("My sister visited in January and will come back in June", "will come back in June 2026"),
        ("My sister visited in January and will come back in June", "visited in January 2026"),
        ("In August we got married, and in June we'll celebrate", "In August 2025"),
        ("In August we got married, and in June we'll celebrate", "in June 2026"),
        ("I was hired in October to start in April", "in October 2025 to start in April 2026"),
        (
            "The exam I failed in November is repeated in May",
            "in November 2025 is repeated in May 2",
        ),
        ("I bought the tickets in November for June", "in November 2025 for June 2026"),
        ("He moved out in February, which was hard", "in February 2026"),
        ("We came back in November", "came back in November 2025"),
        ("I was there back in June", "in June 2025"),
    ],
)
def test_each_clause_has_its_own_time(said, told):
    assert told in absolute_dates(said, MARCH)


@pytest.mark.parametrize(
    "said",
    [
        "I wanted to move in October",
        "They told me to come back in May",
        "I signed up for a run in September",
        "My nephew was due in April",
        "The results came and the consultant sees me on Thursday",
        "We made 14,200 in two days",
        "I haven't had a drink in four years",
    ],
)
def test_what_may_have_been_or_not_and_how_long_it_took_stay_as_they_are(said):
    assert absolute_dates(said, MARCH) == said


def test_tenses_tell_the_direction_of_dates_and_quotations_stay_as_they_are():
    rows = [json.loads(line) for line in (DATA / "gold" / "dates.jsonl").read_text().splitlines()]
    undated: list[str] = []
    wrong: list[str] = []
    for row in rows:
        text = dated_in_place(row["text"], datetime.fromisoformat(row["said"]))
        found = re.findall(r"\(((?:week of )?\d{4}[\d-]*)\)", text)
        if found != ([row["date"]] if row["date"] else []):
            (wrong if found else undated).append(row["text"])
    assert len(rows) == 120
    assert wrong == []
    assert len(undated) <= 5, undated
