"""The measurement of what encryption costs."""

from eval.encryption import measure_encryption


def test_a_small_store_is_measured_in_both_forms():
    figures = measure_encryption(50, rounds=1)
    assert all(value > 0 for value in figures.values())
    assert {name.partition(":")[0] for name in figures} == {"plain", "encrypted", "encrypt"}
