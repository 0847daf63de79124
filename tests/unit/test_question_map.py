"""The map that moves a question's vector towards its answers."""

import json

import numpy as np
import pytest

from semantic_memory.memory import SemanticMemory
from semantic_memory.retrieval import search
from semantic_memory.retrieval.question_map import QuestionMap, load, map_for
from training import data, question_map

MODEL = "all-MiniLM-L6-v2"


def test_a_moved_vector_is_a_unit_vector():
    shipped = map_for(MODEL)
    assert shipped is not None
    vector = np.random.default_rng(0).normal(size=384).astype(np.float32)
    moved = shipped.moved(vector / np.linalg.norm(vector))
    assert moved.dtype == np.float32
    assert np.linalg.norm(moved) == pytest.approx(1, abs=1e-5)


def test_vectors_of_another_embedder_stay():
    assert map_for("some-other-model") is None


def test_a_search_compares_the_moved_vector(tmp_path, monkeypatch):
    turned = QuestionMap(MODEL, -np.eye(384, dtype=np.float32))
    found = []
    for one in (None, turned):
        monkeypatch.setattr(search, "map_for", lambda embedder, one=one: one)
        with SemanticMemory.open(tmp_path / str(one is None)) as memory:
            memory.add("Priya keeps bees on the roof.", user_id="u")
            memory.flush()
            (hit,) = memory.search("Where are Priya's bees?", user_id="u")
            found.append(hit.parts.dense)
    assert found[0] > 0.3
    assert found[1] == pytest.approx(-found[0], abs=1e-5)


def test_the_map_is_fitted_to_conversations_and_helps_in_others(tmp_path, capsys):
    rows = data.rows(data.GOLD / "talk.jsonl")
    chosen = [row for row in rows if not row["held"]][::12] + [row for row in rows if row["held"]][
        ::6
    ]
    text = "\n".join(json.dumps(row) for row in chosen)
    (tmp_path / "talk.jsonl").write_text(text, encoding="utf-8")
    question_map.make(tmp_path, tmp_path / "map.npz")
    without, with_map = (
        [float(part.split()[-1].rstrip(",")) for part in line.split(",")]
        for line in capsys.readouterr().out.splitlines()
    )
    assert load(tmp_path / "map.npz").matrix.shape == (384, 384)
    assert with_map[0] >= without[0]
    assert with_map[1] > without[1]
