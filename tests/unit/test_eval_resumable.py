"""Runs of an evaluation that go on where they were stopped."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eval import resumable
from eval.cache import CachingEmbedder
from eval.datasets import DataSet, History
from eval.experiment import Bench
from eval.systems.build import build_system
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.testing import HashEmbedder
from tests.unit.eval_histories import question, small, told


@pytest.fixture
def shared(tmp_path):
    (tmp_path / "scratch").mkdir()
    embedder = CachingEmbedder(HashEmbedder(), tmp_path / "cache")
    yield Bench(embedder, TiktokenCounter(), tmp_path / "scratch")
    embedder.close()


def quiet(step, done, total):
    del step, done, total


def test_a_run_goes_on_with_the_history_at_which_it_was_stopped(shared, tmp_path, monkeypatch):
    file = tmp_path / "rows.jsonl"
    filled: list[str] = []

    def counted(name, embedder, directory, *, rerank):
        if len(filled) == 1:
            raise KeyboardInterrupt
        filled.append(directory.name)
        return build_system(name, embedder, directory, rerank=rerank)

    monkeypatch.setattr(resumable, "build_system", counted)
    with pytest.raises(KeyboardInterrupt):
        resumable.asked(small(), "bm25", shared, file, quiet)
    assert len(file.read_text().splitlines()) == 1
    assert not any(shared.scratch.iterdir())

    monkeypatch.setattr(resumable, "build_system", build_system)
    whole = resumable.asked(small(), "bm25", shared, file, quiet)
    assert filled == ["history-1"]
    assert {row.user_id for row in whole.rows} == {"u1", "u2"}
    assert len(whole.rows) == small().questions

    monkeypatch.setattr(resumable, "build_system", None)  # nothing is left to do
    assert resumable.asked(small(), "bm25", shared, file, quiet) == whole
    assert not any(shared.scratch.iterdir())


def test_rows_of_another_system_are_kept_and_not_counted(shared, tmp_path):
    file = tmp_path / "rows.jsonl"
    lexical = resumable.asked(small(), "bm25", shared, file, quiet)
    dense = resumable.asked(small(), "dense", shared, file, quiet)
    assert (lexical.system, dense.system) == ("bm25", "dense")
    assert len(file.read_text().splitlines()) == 4


def test_a_file_of_something_else_is_refused(shared, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"user": "u1"}\n')
    with pytest.raises(InvalidInputError, match=r"rows\.jsonl"):
        resumable.asked(small(), "bm25", shared, file, quiet)


class Empty:
    """System that finds nothing."""

    def take_in(self, histories, progress):
        del histories, progress

    def search(self, user_id, query, k, asked_at):
        del user_id, query, k, asked_at
        return []

    def close(self):
        pass


def test_a_question_without_results_is_read_again_as_it_was(shared, tmp_path, monkeypatch):
    file = tmp_path / "rows.jsonl"
    monkeypatch.setattr(resumable, "build_system", lambda *given, **options: Empty())
    dataset = DataSet("d", [History("u", [told(1, "one")], [question("zzz")])], "p")
    once = resumable.asked(dataset, "bm25", shared, file, quiet)
    assert once.rows[0].score == -math.inf
    assert resumable.asked(dataset, "bm25", shared, file, quiet) == once


def test_a_history_that_changed_is_asked_again(shared, tmp_path):
    file = tmp_path / "rows.jsonl"
    resumable.asked(small(), "bm25", shared, file, quiet)
    first, second = small().histories
    changed = DataSet("small", [replace(first, memories=first.memories[1:]), second], "p")
    resumable.asked(changed, "bm25", shared, file, quiet)
    assert len(file.read_text().splitlines()) == 3


def test_a_history_is_the_same_one_in_every_process():
    code = (
        "from eval.resumable import _digest; from tests.unit.eval_histories import *;"
        "print(_digest(History('u', [told(1, 'tea')], [question('what', *map(str, range(9)))])))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
