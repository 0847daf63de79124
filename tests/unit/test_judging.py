"""The packaged judges: what they read, what they leave alone, and what damage does."""

import json
import shutil
from pathlib import Path

import pytest

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.judging.packaged import (
    MODELS,
    Encoder,
    PackagedPairJudge,
    PackagedSentenceJudge,
    is_readable,
)
from semantic_memory.judging.ports import Pair, Spoken
from semantic_memory.judging.reading import FactReader
from tests.conftest import make_fact


def pair(older: str, newer: str) -> Pair:
    return Pair(make_fact(1, content=older), make_fact(2, content=newer), 0.8)


@pytest.fixture(scope="module")
def pairs() -> PackagedPairJudge:
    return PackagedPairJudge()


@pytest.fixture(scope="module")
def sentences() -> PackagedSentenceJudge:
    return PackagedSentenceJudge()


def test_a_plain_change_scores_above_a_neighbour_and_a_repetition_is_the_same(pairs):
    change, neighbour, again = pairs.judge(
        [
            pair("I live in Ghent.", "I moved to Malmö last week."),
            pair("I live in Ghent.", "My cousin has a bakery in Ghent."),
            pair("I live in Ghent.", "i live in ghent btw"),
        ]
    )
    assert change.over > neighbour.over
    assert again.same > max(change.same, neighbour.same)
    assert change.decided_by == pairs.name


def test_a_verdict_does_not_depend_on_other_pairs(pairs):
    asked = [pair("I live in Ghent.", "I moved to Malmö."), pair("a", "b" * 300)]
    assert PackagedPairJudge().judge(asked)[0] == PackagedPairJudge().judge(asked[:1])[0]


def test_a_text_longer_than_the_model_reads_is_cut(pairs):
    assert pairs.judge([pair("word " * 5_000, "other " * 5_000)])[0] is not None


def test_statements_worth_keeping_are_told_from_tasks_and_moments(sentences):
    keep, task, moment = sentences.read(
        [
            Spoken("I'm allergic to penicillin."),
            Spoken("Translate this paragraph into French."),
            Spoken("haha that's so true"),
        ]
    )
    assert keep.keep > max(task.keep, moment.keep)
    assert task.task > max(keep.task, moment.task)


def test_a_fact_keeps_the_reading_of_its_extraction(sentences):
    (reading,) = sentences.read([Spoken("I'm allergic to penicillin.")])
    read = FactReader(sentences)
    assert read(make_fact(1, content="anything", reading=reading)) is reading
    assert read(make_fact(1, content="Ich wohne in Köln.")) is None
    assert not is_readable(make_fact(1, content="Ich wohne in Köln."))


@pytest.mark.parametrize("damage", ["model", "card", "cut"])
def test_a_damaged_judge_is_named_with_a_remedy(tmp_path: Path, damage: str):
    shutil.copytree(MODELS / "pairs", tmp_path / "pairs")
    model, card = tmp_path / "pairs" / "model.onnx", tmp_path / "pairs" / "card.json"
    match damage:
        case "model":
            model.write_bytes(model.read_bytes()[:-1] + b"x")
        case "card":
            card.unlink()
        case "cut":
            model.write_bytes(b"")
    with pytest.raises(ConfigurationError, match="a packaged judge is damaged"):
        Encoder(tmp_path / "pairs").heads("a", "b")


@pytest.mark.parametrize("judge", ["pairs", "sentences"])
def test_the_card_of_a_judge_tells_its_origin_and_its_figures(judge: str):
    card = json.loads((MODELS / judge / "card.json").read_bytes())
    assert {"name", "base", "licence", "data_sha256", "seed", "labels", "sha256"} <= set(card)
    assert card["held_writers"]
    assert (MODELS / judge / "model.onnx").stat().st_size < 24_000_000
