"""Of two facts about one thing, the newer goes first."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from semantic_memory import Message, ProviderError, SemanticMemory
from semantic_memory.domain.text import figures
from semantic_memory.retrieval.growing import Columns
from semantic_memory.retrieval.newest import Figures, following, gains, read_figures
from semantic_memory.retrieval.newest import fresher as newest_first
from semantic_memory.retrieval.snapshot import Snapshot
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder

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
            row: Figures(frozenset({value}), frozenset({topic}))
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
    moved = read_figures("Maya moved to Berlin in March 2026.")
    visited = read_figures("Maya's sister visits Maya on 16 May 2026.")
    assert moved
    assert visited
    assert moved.topic.isdisjoint(visited.topic)
    assert read_figures("Maya likes tea.") is None


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


FACTS = [
    ("stated_at", "f8"),
    ("category", "i1"),
    ("corroborations", "i4"),
    ("speaker", "i4"),
    ("own", "?"),
]


def fresher(*facts, score, weight=0.1, cosine=0.7, states=set):
    columns = Columns.of(np.array([(*(*fact, -1)[:4], True) for fact in facts], dtype=FACTS))
    similar = np.full((len(facts), len(facts)), cosine)
    rows = list(range(len(facts)))
    gained = newest_first(rows, similar, np.array(score), columns, weight, states)
    return sorted(rows, key=lambda row: -(score[row] + gained.get(row, 0.0)))


def test_the_newer_of_two_facts_about_the_same_comes_first():
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.28]) == [1, 0]


def test_age_doesnt_count_of_what_stays_true_beside_a_newer_one():
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.28], states=lambda rows: {0}) == [0, 1]
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.28], states=lambda rows: {1}) == [0, 1]


def test_age_doesnt_count_between_kinds_subjects_or_speakers():
    assert fresher((1, 0, 0), (2, 1, 0), score=[0.30, 0.28]) == [0, 1]
    assert fresher((1, 0, 0, 4), (2, 0, 0, 5), score=[0.30, 0.28]) == [0, 1]
    assert fresher((1, 0, 0, 4), (2, 0, 0, 4), score=[0.30, 0.28]) == [1, 0]
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.28], cosine=0.5) == [0, 1]


def test_a_much_weaker_match_gains_nothing_by_being_newer():
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.15]) == [0, 1]
    assert fresher((1, 0, 0), (2, 0, 0), score=[0.30, 0.28], weight=0.0) == [0, 1]


def test_what_was_stated_more_often_comes_before_what_was_said_once():
    assert fresher((1, 0, 3), (2, 0, 0), score=[0.28, 0.30]) == [0, 1]
    assert fresher((1, 0, 3), (2, 0, 0), score=[0.30, 0.28]) == [0, 1]


class Failing(HashEmbedder):
    """Reaches its model until it is broken."""

    broken = False

    def embed(self, texts, kind):
        if self.broken:
            raise ProviderError("no model")
        return super().embed(texts, kind)


def test_facts_that_are_not_embedded_yet_are_found_by_their_words(tmp_path):
    embedder = Failing()
    settings = Settings(ingest=IngestSettings(background=False))
    with SemanticMemory.open(tmp_path / "store", settings=settings, embedder=embedder) as memory:
        memory.add("Likes green tea", user_id="maya")
        memory.flush()
        embedder.broken = True
        said = "I like black tea with milk. I live in Oslo. My sister paints boats."
        memory.observe([Message(role="user", content=said)], user_id="maya", session_id="s1")
        with suppress(ProviderError):
            memory.flush()
        found = memory.search("Which tea with milk?", user_id="maya")
        assert "black tea with milk" in found[0].fact.content


def test_statements_that_all_follow_one_another_are_each_placed_once():
    number = 60  # by paths, 2 to the power of 58
    columns = np.zeros(number, dtype=[("verbatim", "?"), ("stated_at", "f8")])
    columns["stated_at"] = np.arange(number)
    ids = [f"f{row}" for row in range(number)]
    snapshot = cast(
        Snapshot,
        SimpleNamespace(
            columns=columns,
            ids=ids,
            said_in=[()] * number,
            admitted=np.ones(number, dtype=np.bool_),
            followed_by={one: range(row + 1, number) for row, one in enumerate(ids)},
        ),
    )
    score = np.linspace(0.9, 0.8, number)
    for row, gain in following(snapshot, score, list(range(number))).items():
        score[row] += gain
    assert np.argsort(-score, kind="stable").tolist() == list(reversed(range(number)))
