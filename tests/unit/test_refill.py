"""The benchmark of rebuilding measures what it names."""

from eval.refill import measure_refill


def test_rebuilding_is_measured_beside_chroma_alone():
    figures = measure_refill(60)
    assert figures["rebuild: memories"] == 60
    assert 0.12 < figures["rebuild: MB of log"] < 0.2
    assert figures["rebuild: first search ms"] > 0
    slowest = figures["rebuild: slowest search while refilling ms"]
    assert slowest >= figures["rebuild: first search ms"]
    assert figures["rebuild: vectors a second"] > 0
    assert figures["rebuild: vectors a second, Chroma alone"] > 0
