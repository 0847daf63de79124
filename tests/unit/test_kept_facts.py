"""Facts of rows that were read before."""

from typing import Any, cast

import pytest

from semantic_memory.domain.errors import StoreCorruptError
from semantic_memory.ledger.sqlite.rows import from_fact, to_fact
from tests.conftest import make_fact


def test_what_a_reader_does_to_a_fact_reaches_no_other_reader():
    rows = [from_fact(make_fact(1, metadata={"a": {"b": 1}})), from_fact(make_fact(2))]
    for row in rows:
        kept = cast("dict[str, Any]", to_fact(row).metadata)
        kept.setdefault("a", {})["b"] = 2
    assert [to_fact(row).metadata for row in rows] == [{"a": {"b": 1}}, {}]


@pytest.mark.parametrize("content", ["short", "long " * 1_000])
def test_a_fact_is_that_of_its_row(content):
    fact = make_fact(1, content=content, importance=0.1)
    edited = fact.model_copy(update={"importance": 0.9})
    for one in (fact, edited, fact):
        assert to_fact(from_fact(one)) == one


def test_a_damaged_row_is_refused_each_time():
    row = from_fact(make_fact(1))._replace(detail="{")
    for _ in range(2):
        with pytest.raises(StoreCorruptError):
            to_fact(row)
