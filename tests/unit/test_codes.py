"""Sign codes, against bits counted one by one, and large users, against the ranking of all rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from eval.vectors import CentredEmbedder, question, statement
from semantic_memory import SemanticMemory
from semantic_memory.retrieval import search as searching
from semantic_memory.retrieval.codes import codes_of, nearest
from semantic_memory.retrieval.snapshot import Rows, Snapshot
from semantic_memory.settings import IngestSettings, Settings


@pytest.mark.parametrize("dimension", [4, 64, 100, 384])
def test_the_nearest_codes_have_the_fewest_unlike_bits(dimension):
    dice = np.random.default_rng(dimension)
    rows = dice.standard_normal((20_000, dimension)).astype(np.float32)
    vector = dice.standard_normal(dimension).astype(np.float32)
    wanted = dice.random(20_000) < 0.5
    unlike = ((rows > 0) != (vector > 0)).sum(axis=1)
    found = nearest(codes_of(rows), vector, 50, wanted)
    assert len(found) >= 50
    assert wanted[found].all()
    others = np.setdiff1d(np.flatnonzero(wanted), found)
    assert unlike[found].max() < unlike[others].min()
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("number", [1, 3, 10])
def test_fewer_codes_than_asked_for_are_all_near(number):
    rows = np.ones((3, 8), dtype=np.float32)
    wanted = np.array([True, False, True])
    assert nearest(codes_of(rows), -rows[0], number, wanted).tolist() == [0, 2]


def test_no_code_is_near_if_none_is_wanted():
    rows = np.ones((3, 8), dtype=np.float32)
    assert nearest(codes_of(rows), rows[0], 2, np.zeros(3, dtype=np.bool_)).tolist() == []


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A store of a user whose facts lie in a file, with messages and facts told since."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("large"), ingest=IngestSettings(background=False)
    )
    dice = random.Random(3)
    with SemanticMemory.open(settings=settings, embedder=CentredEmbedder()) as memory:
        texts = [statement(dice, number) for number in range(1_200)]
        for first in range(0, 1_000, 50):
            said = [{"role": "user", "content": text} for text in texts[first : first + 50]]
            memory.observe(said, user_id="u1", session_id=f"s{first}")
        memory.flush()
        memory.search("a lantern", user_id="u1")
        memory.flush()  # writes the file, which the search has asked for
        items = [{"content": text} for text in texts[1_000:]]
        memory.transfer.add_many(items, user_id="u1")
        memory.flush()
        yield memory


def found(memory, asked, **filters):
    hits = [memory.search(one, user_id="u1", k=10, filters=filters or None) for one in asked]
    return [[hit.fact.id for hit in own] for own in hits]


@pytest.mark.parametrize("filters", [{}, {"categories": ["conversation"]}, {"session_id": "s100"}])
def test_the_best_of_a_large_user_are_those_of_ranking_all_rows(large, monkeypatch, filters):
    dice = random.Random(4)
    asked = [question(dice) for _ in range(30)]
    whole = found(large, asked, **filters)
    monkeypatch.setattr(searching, "WHOLE", 100)
    monkeypatch.setattr(searching, "_NEAR", 100)
    monkeypatch.setattr(searching, "_ARM", 100)
    ranked: list[int] = []
    choose = Snapshot.chosen

    def chosen(snapshot: Snapshot, rows: Rows) -> Snapshot:
        ranked.append(len(rows))
        return choose(snapshot, rows)

    monkeypatch.setattr(Snapshot, "chosen", chosen)
    narrowed = found(large, asked, **filters)
    assert len(ranked) == len(asked)
    assert max(ranked) < 1_200  # of more than 2,000
    both = [len({*one} & {*other}) for one, other in zip(narrowed, whole, strict=True)]
    assert sum(both) >= 0.98 * sum(map(len, whole))
    assert [own[0] for own in narrowed] == [own[0] for own in whole]
