"""Counts of repeated tests: small by default, full with `--hypothesis-profile=full`."""

from __future__ import annotations

from hypothesis import settings

FULL, QUICK = "full", "quick"

settings.register_profile(FULL, deadline=None)
settings.register_profile(QUICK, deadline=None, max_examples=25)


def rounds(*, full: int, quick: int) -> int:
    """Return the number of kills or examples for this run."""
    return full if settings.get_current_profile_name() == FULL else quick
