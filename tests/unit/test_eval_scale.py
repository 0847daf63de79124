"""A store that grows by copied users: the copies are searched as if they had been written."""

from __future__ import annotations

import pytest

from eval.scale_command import _numbers, table
from semantic_memory.domain.errors import InvalidInputError
from tests.support import postgres

postgres.require()

from eval.scale import measure_scale  # noqa: E402 - needs the driver


def test_a_store_grows_and_every_user_finds_their_own() -> None:
    first, second = measure_scale([250, 400], large=100, each=50, searches=5)
    assert (first.memories, second.memories) == (250, 400)
    assert {"facts", "vectors", "words", "versions"} <= set(first.kilobytes)
    assert all(one.p95 >= one.p50 > 0 for one in second.searches.values())
    assert len(second.searches) == 3
    assert second.extracted > 0
    assert table(second).row_count > 10


@pytest.mark.parametrize("sizes", ["", "many", "400,250", "150", "250,250"])
def test_sizes_that_do_not_grow_or_have_no_room_are_refused(sizes: str) -> None:
    with pytest.raises(InvalidInputError, match="--sizes must"):
        _numbers(sizes, large=100, each=50)
