"""python -m eval, run as in a process."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.__main__ import app
from eval.datasets.load import NAMES as SETS
from eval.systems.build import NAMES as SYSTEMS
from semantic_memory.domain.errors import InvalidInputError, SemanticMemoryError
from semantic_memory.entrypoints.cli import show
from tests.support.surface import command_names

ROOT = Path(__file__).parents[2]
OWN = {
    "memories": [
        "The spare key hangs behind the clock",
        {"id": "tea", "content": "Ada drinks tea without milk", "category": "preference"},
        {"id": "said", "content": "I sold the boat", "session_id": "s1", "role": "user"},
    ],
    "questions": [
        {"query": "How does Ada take her tea?", "relevant_ids": ["tea"], "kind": "taste"},
        {"query": "What became of the boat?", "relevant_ids": ["said"]},
    ],
}


@pytest.fixture
def run(capsys) -> Callable[..., str]:
    """Run a command in this process: one of its own spends five seconds of CPU on imports."""

    def run_it(*arguments: str) -> str:
        app(list(arguments), standalone_mode=False)
        printed: str = capsys.readouterr().out
        return printed

    return run_it


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(OWN), encoding="utf-8")
    return str(path)


def test_anyone_can_measure_a_store_of_their_own(run, own, tmp_path):
    cache = ("--cache", str(tmp_path / "cache"))
    html = tmp_path / "page.html"
    printed = run("run", "--set", "own", "--data", own, "--json", "--html", str(html), *cache)
    figures = json.loads(printed.splitlines()[-1])
    assert figures["Recall@10"] == 1.0
    assert figures["by_kind"]["taste"]["Success@1"] == 1.0
    assert figures["systems"]["dense"]["questions"] == 2
    assert "<svg" in html.read_text(encoding="utf-8")
    shown = run("run", "--set", "own", "--data", own, "--systems", "bm25,dense", *cache)
    assert "bm25 minus" in shown


def test_locomo_prints_one_json_object_last(run, tmp_path):
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": "I sold the boat to a dentist"}
    sample: Any = {
        "sample_id": "c1",
        "conversation": {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [{"question": "Who bought the boat?", "category": 4, "evidence": ["D1:1"]}],
    }
    sample["qa"][0]["answer"] = "a dentist from Oslo"
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    printed = run("locomo", "--data", str(path), "--json", "--pack", "--cache", str(tmp_path))
    figures = json.loads(printed.splitlines()[-1])
    assert figures["Recall@10"] == figures["MRR@10"] == figures["nDCG@10"] == 1.0
    assert figures["by_kind"]["single-hop"]["questions"] == 1
    assert figures["survival"]["500"] == {
        "greedy": 1.0,
        "greedy, any": 1.0,
        "packed": 1.0,
        "packed, any": 1.0,
        "answer words": 0.5,
    } | {"tokens": figures["survival"]["500"]["tokens"]}


def test_the_shipped_set_holds_its_stored_figures(run, tmp_path):
    assert "DROPPED" not in run("gate", "--cache", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("run", "--set", "nonsense"), "unknown data set"),
        (("run", "--set", "own"), "--data"),
        (("run", "--set", "gold", "--systems", "nonsense"), "unknown system"),
        (("run", "--set", "gold", "--measure", "nonsense"), "unknown measure"),
        (("tune", "--set", "gold", "--measure", "Recall"), "unknown measure"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_reason(arguments, reason):
    with pytest.raises(InvalidInputError, match=reason):
        app(list(arguments), standalone_mode=False)


NEEDS = {
    "run": "--set",
    "locomo": "--data",
    "tune": "--set",
    "qa": "--set",
    "attacks": "--data",
    "extraction": "--paed",
    "beliefs": "--data",
    "blocks": "--locomo",
    "retired": "file",
    "knowledge-updates": "file",
    "ledgers": "url",
    "workers": "url",
    "indexes": "url",
}
"""Argument that a command asks for if it can't run by itself."""
BY_ITSELF = {
    "audit",
    "bench",
    "cascade",
    "chaos",
    "core",
    "decay",
    "encryption",
    "factconsolidation",
    "flood",
    "gate",
    "hook",
    "languages",
    "llm",
    "load",
    "messages",
    "mutants",
    "own-speech",
    "pairs",
    "pathological",
    "relevance",
    "scale",
    "sentences",
    "spaces",
    "stages",
    "stale",
    "starts",
    "starvation",
    "statements",
    "voices",
    "walk",
}
"""These have shipped data, or make their own."""


def test_every_command_is_known_to_need_data_or_none():
    assert {*command_names(app)} == NEEDS.keys() | BY_ITSELF


@pytest.mark.parametrize(("name", "needed"), NEEDS.items(), ids=NEEDS)
def test_a_command_without_its_data_says_what_it_needs_and_exits_with_2(name, needed, capsys):
    done = CliRunner().invoke(app, [name])
    said = done.output
    if isinstance(done.exception, SemanticMemoryError):  # `python -m eval` prints it
        assert show.fail(done.exception) == 2
        said = capsys.readouterr().err
    else:
        assert done.exit_code == 2
    assert needed in said, said


def test_every_command_that_a_page_names_exists():
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "Makefile"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert {*re.findall(r"python -m eval ([a-z][a-z-]*)", text)} <= {*command_names(app)}


def test_every_command_and_choice_is_documented():
    pages = [ROOT / "docs" / name for name in ("evaluation.md", "benchmarks.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for name in command_names(app):
        assert f"python -m eval {name}" in text
    for name in (*SETS, *SYSTEMS):
        assert f"`{name}`" in text


def test_a_missing_file_is_told_without_a_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "eval", "locomo", "--data", str(tmp_path / "none.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "no file" in done.stderr
    assert "Traceback" not in done.stderr
