"""The way from labelled data to a packaged judge, walked with little data."""

import json
from pathlib import Path

import pytest

from semantic_memory.judging.packaged import Encoder
from training import answers, card, data, export
from training.augment import spelled, third_person, told_of
from training.model import SpansModel

PAIRS = 48


@pytest.fixture(scope="module")
def gold(tmp_path_factory) -> Path:
    directory: Path = tmp_path_factory.mktemp("gold")
    rows = data.rows(data.GOLD / "pairs.jsonl")
    chosen = [row for row in rows if not row["held"]][:PAIRS]
    held = {label: [r for r in rows if r["held"] and r["label"] == label] for label in LABELS}
    chosen += [row for label in LABELS for row in held[label][:6]]
    lines = [json.dumps(row) for row in chosen]
    (directory / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return directory


LABELS = data.PAIR_LABELS


def test_a_judge_is_trained_compiled_measured_and_loads(gold, tmp_path):
    made = card.make("pairs", gold, tmp_path, epochs=0.5, share=1.0, seed=3)
    assert json.loads((tmp_path / "card.json").read_bytes()) == made
    assert made["held_writers"]["pairs"] == 18
    heads = Encoder(tmp_path).heads("I live in Ghent", "I moved to Malmö")
    assert set(heads["relation"]) == set(LABELS)
    assert sum(heads["relation"].values()) == pytest.approx(1.0, abs=1e-3)


def test_a_reranker_is_trained_compiled_measured_and_loads(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "MOST_LOST", 1.0)  # hardly trained, it ranks texts nearly alike
    told = data.rows(data.GOLD / "talk.jsonl")
    few = [next(row for row in told if row["held"] == held) for held in (False, True)]
    for row in few:
        row["questions"] = row["questions"][:16]
    lines = [json.dumps(row) for row in few]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    made = card.make_answers(tmp_path, tmp_path / "answers", epochs=1, seed=3)
    assert json.loads((tmp_path / "answers" / "card.json").read_bytes()) == made
    assert (made["rows"]["trained"], made["held_writers"]["questions"]) == (16, 16)
    (logit,) = Encoder(tmp_path / "answers").logits("Who moved?", "Jo: I moved to Malmö")
    assert abs(float(logit)) < 50


def test_writers_are_in_training_or_held_never_both():
    for rows in (data.pairs(), data.sentences()):
        told = [row for row in rows if row.writer not in ("duplicates", "written", "longmemeval")]
        held = {row.writer for row in told if row.held}
        learned = {row.writer for row in told if not row.held}
        shared = {one for one in held & learned if not one.startswith("successions")}
        assert not shared


def test_variants_keep_what_a_statement_says():
    import random

    rng = random.Random(1)
    assert third_person("I'm in Leeds and my sister isn't.", "Jo") == (
        "Jo is in Leeds and Jo's sister isn't."
    )
    older, newer = told_of("I live in Ghent", "I moved", rng)
    assert "Ghent" in older
    assert newer
    assert all("Ghent".lower()[1:3] in spelled("I live in Ghent", rng).lower() for _ in range(3))


def test_a_reranker_that_int8_spoils_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "MOST_LOST", -1.0)
    with pytest.raises(ValueError, match="int8 ranks answers"):
        export.compile_ranker(
            SpansModel(answers.HEADS), tmp_path / "model.onnx", [("Who moved?", ["Jo did", "Hi"])]
        )
