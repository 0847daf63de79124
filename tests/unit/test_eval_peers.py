"""This product beside others with the same vectors, as `python -m eval bench --peers` measures."""

import json

import numpy as np
import pytest

from eval.__main__ import app
from eval.peers import bench
from eval.peers.bench import Measured
from eval.peers.vectors import KnownVectors
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show


def test_installed_systems_are_measured_and_others_are_a_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "ENVIRONMENTS", tmp_path)
    asked = ["bench", "--peers", "--systems", "semantic-memory,chroma,txtai", "--memories", "40"]
    app([*asked, "--json"], standalone_mode=False)
    ours, chroma, txtai = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert ours["version"]
    assert chroma["version"].startswith("1.")
    assert ours.keys() == chroma.keys()
    for measure in ("add, p50 ms", "bulk add, ms", "disk, MB", "resident, MB", "search p50, ms"):
        assert ours[measure] > 0
        assert chroma[measure] > 0
    assert txtai == {"name": "txtai", "version": "", "missing": "isn't installed: make bench-peers"}


def test_a_peer_that_fails_says_why(monkeypatch, tmp_path):
    environment = tmp_path / "mem0" / "bin"
    environment.mkdir(parents=True)
    python = environment / "python"
    python.write_text("#!/bin/sh\necho 'no such model' >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(bench, "ENVIRONMENTS", tmp_path)
    assert list(bench.measure_peers(["mem0"], 4)) == [
        Measured("mem0", missing="failed to fill: no such model")
    ]


def test_the_table_has_ratios_to_this_product():
    measured = [
        Measured("semantic-memory", "1", {"search p50, ms": 2.0}),
        Measured("chroma", "2", {"search p50, ms": 5.0}),
        Measured("mem0", missing="isn't installed"),
    ]
    with show.out.capture() as captured:
        show.out.print(bench.table(measured))
    assert "5.00 (2.5x)" in captured.get()


def test_vectors_are_those_of_their_texts():
    known = KnownVectors(["a", "b"], np.eye(2, dtype=np.float32))
    assert known.lists(["b", "a"]) == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(KeyError):
        known(["c"])


def test_an_unknown_system_is_refused():
    with pytest.raises(InvalidInputError, match="unknown system 'nonsense'"):
        app(["bench", "--peers", "--systems", "nonsense"], standalone_mode=False)
