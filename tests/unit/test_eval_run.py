import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from eval.cache import CachingEmbedder
from eval.datasets import DataSet, History
from eval.experiment import Bench, compare
from eval.gate import Check, checks
from eval.report import document, page
from eval.results import Result, separation, survival, write_rows
from eval.run import Packer, ask
from eval.significance import paired_bootstrap
from eval.systems import Found
from eval.systems.ours import Ours
from eval.tune import split, tune
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import InvalidInputError, MissingDependencyError
from semantic_memory.testing import HashEmbedder
from tests.unit.eval_histories import ASKED, question, small, told


def quiet(step, done, total):
    del step, done, total


@pytest.fixture
def shared(tmp_path):
    embedder = CachingEmbedder(HashEmbedder(), tmp_path / "cache")
    (tmp_path / "scratch").mkdir()
    yield Bench(embedder, TiktokenCounter(), tmp_path / "scratch")
    embedder.close()


class Scripted:
    """System with scripted results."""

    def __init__(self, found: list[Found]) -> None:
        self.found = found

    def take_in(self, histories, progress):
        del histories, progress

    def search(self, user_id, query, k, asked_at):
        del user_id, query, asked_at
        return self.found[:k]

    def close(self):
        pass


def rows_of(found, *, packer=None):
    memories = [told(1, "one"), told(2, "two", "s2"), told(3, "three", "s2")]
    asked = [question("q", "m1", "m3"), question("none")]
    dataset = DataSet("d", [History("u", memories, asked)], "p")
    return ask(Scripted(found), dataset, TiktokenCounter(), quiet, packer=packer)


def test_a_result_counts_as_all_the_memories_it_came_from_each_once():
    row, _ = rows_of([Found(["m2"], 0.9, "- two"), Found(["m2", "m1"], 0.8, "- one")])
    assert row.ranking == ("m2", "m1")
    assert row.sessions == ("s2", "s1")
    assert row.value("Recall@10", "memory") == 0.5
    assert row.value("AllRecall@10", "session") == 1.0
    assert row.value("MRR@10", "memory") == 0.5


def test_nothing_found_counts_as_zero_and_the_unanswerable_not_at_all():
    rows = rows_of([])
    result = Result("s", rows, 0.0)
    assert [float(value) for value in result.column("Recall@10", "memory")] == [0.0]
    assert [row.question.text for row in result.answered("session")] == ["q"]
    assert separation(rows) == 0.5


def test_the_best_score_tells_questions_apart_that_cant_be_answered():
    answerable, unanswerable = rows_of([Found(["m1"], 0.9, "- one")])
    low = rows_of([Found(["m1"], 0.1, "- one")])[1]
    assert separation([answerable, low]) == 1.0
    assert separation([answerable]) is None
    assert separation([answerable, unanswerable]) == 0.5


def test_a_budget_is_filled_from_the_top_until_the_next_line_does_not_fit():
    long = "- " + "word " * 400
    found = [Found(["m1"], 3, "- one"), Found(["m2"], 2, long), Found(["m3"], 1, "- three")]
    packer = Packer((100, 2_000), TiktokenCounter(), None)
    row, _ = rows_of(found, packer=packer)
    assert row.greedy[100].survival == 0.5
    assert row.greedy[100].tokens <= 100
    assert row.greedy[2_000].survival == 1.0
    assert survival([row]) == {
        "100": {"greedy": 0.5, "greedy, any": 1.0},
        "2000": {"greedy": 1.0, "greedy, any": 1.0},
    }


def test_an_interval_holds_the_difference_and_is_the_same_every_time():
    dice = np.random.default_rng(3)
    better, worse = dice.random(200) + 0.2, dice.random(200)
    found = paired_bootstrap(better, worse)
    assert found.low < found.mean < found.high
    assert found.significant
    assert found == paired_bootstrap(better, worse)
    alike = paired_bootstrap(worse, worse[::-1])
    assert not alike.significant
    assert paired_bootstrap(better, worse).mean == pytest.approx(float((better - worse).mean()))


def test_a_document_is_embedded_once_ever_and_a_query_every_time(tmp_path):
    inner = HashEmbedder()
    cached = CachingEmbedder(inner, tmp_path)
    first = cached.embed(["tea", "milk", "tea"], "document")
    assert inner.embedded == 2
    cached.embed(["tea"], "query")
    cached.embed(["tea"], "query")
    assert inner.embedded == 4
    cached.close()
    again = HashEmbedder()
    reopened = CachingEmbedder(again, tmp_path, remember_queries=True)
    assert np.array_equal(reopened.embed(["tea", "milk", "tea"], "document"), first)
    assert again.embedded == 0
    reopened.embed(["tea"], "query")
    reopened.embed(["tea"], "query")
    assert again.embedded == 1
    reopened.close()
    other = CachingEmbedder(HashEmbedder(32), tmp_path)
    assert other.embed(["tea"], "document").shape == (1, 32)
    other.close()


def test_a_run_measures_every_system_and_what_each_part_is_worth(shared, tmp_path):
    found = compare(
        small(), ["semantic-memory", "bm25", "rrf", "min-max"], shared, quiet, ablate="nDCG@10"
    )
    written = document.comparison(found)
    assert list(written["systems"]) == ["semantic-memory", "bm25", "rrf", "min-max"]
    assert written["questions"] == 3
    assert written["Recall@10"] == written["systems"]["semantic-memory"]["Recall@10"] == 1.0
    assert written["session_level"]["questions"] == 2
    assert written["by_kind"]["many"]["questions"] == 1
    assert written["survival"]["500"]["packed"] == 1.0
    assert written["abstention"]["questions"] == 1
    assert set(written["differences"]) == {"bm25", "rrf", "min-max"}
    weights = Ours(tmp_path / "unused", shared.embedder).weights
    assert set(written["ablation"]) <= set(weights.__dataclass_fields__)
    assert written["ablation"]
    json.dumps(written)

    path = tmp_path / "rows.jsonl"
    write_rows(path, found.dataset, found.results)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 4 * 4
    assert records[0]["memory"]["Recall@10"] == 1.0
    assert records[2]["memory"] == {}

    html = tmp_path / "page.html"
    page.write_page(html, found, shared.embedder.identity)
    text = html.read_text()
    assert text.count("<svg") == 4
    assert "src=" not in text
    assert "<link" not in text
    assert "+0.000 [+0.000, +0.000]" in text


def test_the_same_results_give_the_same_page(shared, tmp_path):
    found = compare(small(), ["bm25", "dense"], shared, quiet)
    for name in ("a.html", "b.html"):
        page.write_page(tmp_path / name, found, shared.embedder.identity)
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


def test_what_was_tuned_is_reported_on_other_users(shared):
    train, test = split(small())
    assert {history.user_id for history in train.histories}.isdisjoint(
        history.user_id for history in test.histories
    )
    found = tune(small(), "nDCG@10", 1, shared, quiet)
    assert found.tried > 0
    assert found.train[1] >= found.train[0]
    assert set(found.train_users) | set(found.test_users) == {"u1", "u2"}
    assert not set(found.train_users) & set(found.test_users)
    written = document.tuning(found)
    assert written["tuned_on"] == found.train_users


def test_one_user_cant_be_split(shared):
    dataset = small()
    one = DataSet("one", dataset.histories[:1], "p")
    with pytest.raises(InvalidInputError, match="two users"):
        tune(one, "nDCG@10", 1, shared, quiet)


def test_a_fact_told_twice_counts_as_both_tellings(shared):
    memories = [told(1, "Tea", None), told(2, "Milk", None), told(3, "Tea", None)]
    dataset = DataSet("d", [History("u", memories, [question("Tea?", "m1", "m3")])], "p")
    ours = Ours(shared.scratch / "store", shared.embedder)
    ours.take_in(dataset.histories, quiet)
    found = ours.search("u", "Tea?", 10, ASKED)
    ours.close()
    assert list(found[0].ids) == ["m1", "m3"]


def test_the_gate_fails_only_on_a_drop_beyond_the_tolerance():
    expected = {"facts": {"MRR@10": 0.8}}
    assert [one.passed for one in checks(expected, {"facts": {"MRR@10": 0.78}})] == [True]
    assert [one.passed for one in checks(expected, {"facts": {"MRR@10": 0.95}})] == [True]
    assert [one.passed for one in checks(expected, {"facts": {"MRR@10": 0.779}})] == [False]
    assert checks(expected, {}) == [Check("facts", "MRR@10", 0.8, 0.0)]


def test_a_system_that_isnt_installed_is_skipped_with_a_word(shared, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "txtai", None)
    monkeypatch.delitem(sys.modules, "eval.systems.txtai", raising=False)
    found = compare(small(), ["txtai", "bm25"], shared, quiet)
    assert [result.system for result in found.results] == ["bm25"]
    assert "pip install" in found.skipped[0]
    with pytest.raises(MissingDependencyError, match="eval-txtai"):
        compare(small(), ["txtai"], replace(shared, scratch=tmp_path), quiet)
