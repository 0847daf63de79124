"""Of two facts that give other figures for one thing, the newer goes first."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from semantic_memory.domain.text import figures
from semantic_memory.retrieval.newest import Telling, gains, telling

U = {"user_id": "u1"}
OLD, NEW = 0, 1


def gained(
    *,
    alike=0.8,
    older=0.5,
    newer=0.4,
    asked=frozenset(),
    values=("5", "7"),
    topics=("aim", "aim"),
    said=(1, 2),
):
    return gains(
        [OLD, NEW],
        {
            row: Telling(frozenset({value}), frozenset({topic}))
            for row, (value, topic) in enumerate(zip(values, topics, strict=True))
        },
        np.array([[1.0, alike], [alike, 1.0]], np.float32),
        np.array([older, newer]),
        np.array(said, float),
        asked,
    )


def test_the_newer_stands_just_above_the_older():
    (gain,) = gained().values()
    assert 0.4 + gain > 0.5
    assert gain == pytest.approx(0.1)


@pytest.mark.parametrize(
    "values",
    [
        {"alike": 0.3},
        {"newer": 0.2},
        {"newer": 0.6},
        {"values": ("5", "5")},
        {"asked": frozenset({"5"})},
        {"topics": ("move", "visit")},
        {"said": (2, 1)},
    ],
    ids=[
        "another thing",
        "far worse",
        "already above",
        "same figure",
        "asked for",
        "no word shared",
        "older",
    ],
)
def test_nothing_is_gained_otherwise(values):
    assert gained(**values).keys() <= ({OLD} if values.get("said") == (2, 1) else set())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The deadline is 5 May", {"5"}),
        ("Due on March 3, 10:30", {"march", "3", "10:30"}),
        ("Every Tuesday in December", {"tuesday", "december"}),
        ("It may rain; we march on, marching with a sepal", {"march"}),
        ("Costs $1,200.50", {"1,200.50"}),
    ],
)
def test_figures_are_numbers_and_days(text, found):
    assert figures(text) == found


def test_a_name_is_nothing_that_figures_are_given_for():
    moved = telling("Maya moved to Berlin in March 2026.")
    visited = telling("Maya's sister visits Maya on 16 May 2026.")
    assert moved
    assert visited
    assert moved.topic.isdisjoint(visited.topic)
    assert telling("Maya likes tea.") is None


def test_a_search_puts_the_newer_figure_first_and_says_why(memory, clock):
    old = memory.add("I mostly aim for 1200 words of fiction, week after week after week", **U)
    clock.advance(days=60)
    new = memory.add("The aim for fiction, words by the week after all: 1350", **U)
    hits = memory.search("How many words of fiction do I aim for, week after week?", **U)
    assert [hit.fact.id for hit in hits] == [new.id, old.id]
    assert hits[0].parts.newer > 0 == hits[1].parts.newer
    assert hits[0].score > hits[1].score
    hits = memory.search("When did I aim for 1200 words of fiction week after week?", **U)
    assert hits[0].fact.id == old.id


def test_what_was_believed_is_answered_with_the_figure_of_then(memory, clock):
    old = memory.add("I mostly aim for 1200 words of fiction, week after week after week", **U)
    then = clock.now() + timedelta(days=1)
    clock.advance(days=60)
    memory.add("The aim for fiction, words by the week after all: 1350", **U)
    (hit,) = memory.search("words of fiction", **U, as_of=then)
    assert hit.fact.id == old.id
