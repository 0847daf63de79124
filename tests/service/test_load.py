"""Many clients at once: no errors, no losses, no hits of another user."""

from __future__ import annotations

from eval.load import fill, load
from tests.support.effort import rounds


def test_under_load_nothing_fails_is_lost_or_strays(tmp_path):
    directory = tmp_path / "store"
    fill(directory, users=4, each=25)
    outcome, figures = load(directory, users=4, seconds=rounds(full=10, quick=4), clients=16)
    assert outcome.errors == []
    assert outcome.strays == 0
    assert outcome.lost == 0
    assert {"search", "observe", "add"} == outcome.requests.keys()
    assert figures["search p95 ms"] > 0
