from datetime import UTC, datetime

import numpy as np
import pytest

from semantic_memory.domain.english.windows import windows
from semantic_memory.retrieval.question import read
from semantic_memory.retrieval.times import closeness, weight

NOW = datetime(2023, 5, 24, 12, tzinfo=UTC)  # a Wednesday
DAY = 86_400.0


def spans(question: str) -> list[tuple[str, str]]:
    """Return the first and last day of every window."""
    return [
        (
            datetime.fromtimestamp(window.start, UTC).strftime("%Y-%m-%d"),
            datetime.fromtimestamp(window.end - 1, UTC).strftime("%Y-%m-%d"),
        )
        for window in windows(question, NOW)
    ]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did I do yesterday?", "2023-05-23", "2023-05-23"),
        ("Who called the day before yesterday?", "2023-05-22", "2023-05-22"),
        ("Who called last Friday?", "2023-05-19", "2023-05-19"),
        ("Who called on Friday?", "2023-05-19", "2023-05-19"),
        ("Where was I last weekend?", "2023-05-20", "2023-05-21"),
        ("Where was I last week?", "2023-05-15", "2023-05-21"),
        ("What is planned this week?", "2023-05-22", "2023-05-28"),
        ("What did I read last month?", "2023-04-01", "2023-04-30"),
        ("What did I read this month?", "2023-05-01", "2023-05-31"),
        ("Where did we live last year?", "2022-01-01", "2022-12-31"),
        ("the trip four weeks ago", "2023-04-24", "2023-04-28"),
        ("the trip a couple of weeks ago", "2023-05-08", "2023-05-12"),
        ("a few months back", "2023-02-16", "2023-03-04"),
        ("runs in the past two weeks", "2023-05-10", "2023-05-24"),
        ("runs in the past week", "2023-05-17", "2023-05-24"),
        ("the concert in March", "2023-03-01", "2023-03-31"),
        ("the concert in december", "2022-12-01", "2022-12-31"),
        ("the concert last May", "2022-05-01", "2022-05-31"),
        ("the concert in early May of 2021", "2021-05-01", "2021-05-31"),
        ("the concert, mid-March", "2023-03-01", "2023-03-31"),
        ("the concert on 5 March", "2023-03-05", "2023-03-05"),
        ("the concert on March 5th, 2021", "2021-03-05", "2021-03-05"),
        ("the concert on the 3rd of April 2021", "2021-04-03", "2021-04-03"),
        ("the concert on 2023-05-01", "2023-05-01", "2023-05-01"),
        ("the concerts in 2021", "2021-01-01", "2021-12-31"),
        ("everything since March", "2023-03-01", "2023-05-24"),
        ("everything after March", "2023-04-01", "2023-05-24"),
    ],
)
def test_a_time_in_a_question_becomes_a_window(question, first, last):
    assert spans(question) == [(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "May I ask what the march was about?",
        "What do I do every Friday?",
        "What is planned for next Friday?",
        "How many weeks did it take?",
        "on 31 February 2023",
        "in the year 99999",
        "Wann war das Konzert im März?",
    ],
)
def test_other_questions_have_none(question):
    assert windows(question, NOW) == []


def test_two_times_make_two_windows():
    assert spans("between March and April 2023") == [
        ("2023-03-01", "2023-03-31"),
        ("2023-04-01", "2023-04-30"),
    ]


def test_what_was_said_before_a_time_fits_however_old_it_is():
    (window,) = windows("What did I say before May 2022?", NOW)
    start = datetime(2022, 5, 1, tzinfo=UTC).timestamp()
    assert weight(window, [0.0, start - DAY]) == pytest.approx([1.0, 1.0])
    assert weight(window, start + 60 * DAY) < 0.01


def test_edges_are_soft_and_softer_for_longer_times():
    day = windows("yesterday", NOW)
    month = windows("last month", NOW)
    at = [datetime(2023, 5, 23, 12, tzinfo=UTC).timestamp(), NOW.timestamp() + DAY]
    assert closeness(day, at)[0] == 1.0
    assert 0 < closeness(day, at)[1] < closeness(day, at)[0]
    three_days_after = datetime(2023, 5, 4, tzinfo=UTC).timestamp()
    assert closeness(month, three_days_after) > 0.5
    assert np.all(closeness([], at) == 0.0)


@pytest.mark.parametrize(
    ("question", "about_me"),
    [
        ("What is my dog called?", True),
        ("what did i say about Rome", True),
        ("Where have we been?", True),
        ("I've lost it, where is it?", True),
        ("Which US state is it?", False),
        ("What does Maya think of it?", False),
    ],
)
def test_who_asks_about_themselves_is_noticed(question, about_me):
    assert read(question, NOW).about_me is about_me


@pytest.mark.parametrize(
    "request_",
    [
        "What should I cook tonight?",
        "Book a table for tonight",
        "Any ideas for dinner this evening?",
        "Please book the train for Friday",
        "What are we doing this weekend?",
    ],
)
def test_a_time_to_come_is_no_window_on_memories(request_):
    assert read(request_, NOW).windows == []


@pytest.mark.parametrize(
    "question",
    [
        "What did I eat today?",
        "What happened this week?",
        "Suggest a film like the one from yesterday",
        "Could you list what I noted last week?",
    ],
)
def test_a_time_that_is_past_is_one(question):
    assert len(read(question, NOW).windows) == 1
