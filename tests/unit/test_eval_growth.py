"""Growth of a store, as `python -m eval bench --growth` measures it."""

import json

import pytest

from eval import growth
from eval.__main__ import app
from eval.growth import Size
from eval.growth_report import parse_sizes
from eval.vectors import CentredEmbedder
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.retrieval import search as searching

MEASURES = {
    "add_many, a memory, ms",
    "first search, ms",
    "forget a user, ms",
    "index, MB",
    "index, a memory, ms",
    "file, a memory, ms",
    "ledger, MB",
    "logs and locks, MB",
    "maintain a user, s",
    "open, ms",
    "resident, MB",
    "search p50, ms",
    "search p95, ms",
}


def test_each_size_is_built_measured_and_plotted(tmp_path, capsys):
    plot = tmp_path / "images" / "growth.svg"
    asked = ["bench", "--growth", "--sizes", "1x30,3x10", "--plot", str(plot), "--json"]
    app(asked, standalone_mode=False)
    one, many = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (one["users"], one["each"], many["users"], many["each"]) == (1, 30, 3, 10)
    assert one.keys() - {"users", "each"} == MEASURES
    assert many.keys() - one.keys() == {"first search of another user, ms"}
    assert all(one[measure] > 0 for measure in MEASURES)
    drawn = plot.read_text(encoding="utf-8")
    assert all(f">{measure}<" in drawn for measure in MEASURES)


def test_sizes_are_users_and_memories_of_each():
    assert parse_sizes("1x10000, 1000x100") == [Size(1, 10_000), Size(1_000, 100)]


@pytest.mark.parametrize("wrong", ["", "1000", "x100", "0x100", "10x-1", "1x10,"])
def test_a_wrong_size_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="USERSxMEMORIES"):
        parse_sizes(wrong)


def test_a_plot_without_growth_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="--growth"):
        app(["bench", "--plot", str(tmp_path / "x.svg")], standalone_mode=False)


def test_vectors_lie_around_centres_and_are_the_same_for_the_same_text():
    texts = [f"text {number}" for number in range(6_000)]
    rows = CentredEmbedder().embed(texts, "document")
    assert rows.shape == (6_000, 384)
    assert (CentredEmbedder().embed(texts[:2], "query") == rows[:2]).all()
    nearest = sorted(rows[1:] @ rows[0])[-1]
    assert 0.4 < nearest < 0.9  # two of the same centre; otherwise at most .3


def test_the_share_of_the_hits_of_ranking_all_is_taken_from_a_users_file(tmp_path, monkeypatch):
    directory, size = tmp_path / "store", growth.Size(1, 600)
    growth.build(directory, size)
    assert growth.keep(directory, size)["file, a memory, ms"] > 0
    assert [*(directory / "partitions").iterdir()]
    monkeypatch.setattr(searching, "WHOLE", 100)
    for near, least, most in ((100, 0.98, 1.0), (1, 0.0, 0.97)):
        monkeypatch.setattr(searching, "_NEAR", near)
        monkeypatch.setattr(searching, "_ARM", near)
        with growth.open_store(directory) as memory:
            assert least <= growth.agreement(memory) <= most
