"""Counts of repeated tests: small by default, full with `--hypothesis-profile=full`."""

from __future__ import annotations

from hypothesis import settings

FULL, QUICK = "full", "quick"

OF_THE_MACHINE = settings()  # without randomness on CI
settings.register_profile(FULL, OF_THE_MACHINE, deadline=None)
settings.register_profile(QUICK, OF_THE_MACHINE, deadline=None, max_examples=25)


def rounds(*, full: int, quick: int) -> int:
    """Return the number of kills or examples for this run."""
    return full if settings.get_current_profile_name() == FULL else quick
