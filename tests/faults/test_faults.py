"""Courses on failing disks, by seed: what was acknowledged is there, what was forgotten is not.

A failure names its seed: `PYTHONHASHSEED=0 python -m tests.faults SEED` runs that course again.
"""

from random import Random

import pytest

from tests.faults.course import Found, run
from tests.faults.weather import CALM, Weather
from tests.support.effort import rounds

# SQLite passes over some errors of the disk, as when it closes; apsw reports them.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
_TESTS = 10
_SEEDS = rounds(full=2_000, quick=50)


@pytest.mark.parametrize("first", range(_TESTS))
def test_a_store_survives_a_failing_disk(first):
    for seed in range(first, _SEEDS, _TESTS):
        run(seed)


def test_a_course_repeats_itself():
    assert run(7).injected == run(7).injected


def test_calm_weather_has_no_faults():
    faults = run(2, lambda _: CALM)
    assert not any(kind.startswith("EIO") for kind in faults.injected)


def test_a_disk_that_lies_is_found_out():
    """The harness notices what is lost where nobody waited for the disk."""

    def lying(rng: Random) -> Weather:
        return Weather(lies=1.0, cut_at=rng.randint(40, 120))

    found = 0
    for seed in range(8):
        try:
            run(seed, lying)
        except Found:
            found += 1
    assert found >= 2
