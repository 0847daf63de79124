"""The waits of one user beside another, as `python -m eval starvation` measures them."""

from eval.starvation import starvation


def test_every_call_is_timed_in_quiet_and_under_load(tmp_path):
    found = starvation(tmp_path / "store", rounds=1, flooding=1)
    assert list(found) == ["add", "search", "context", "forget", "check"]
    assert all(one.quiet > 0.0 and 0.0 < one.loaded <= one.longest for one in found.values())
