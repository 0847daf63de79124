"""Every place of traces keeps the latest, and forgets words and users."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.ports.traces import TraceRow, Traces
from semantic_memory.ledger.ram_traces import RamTraces
from semantic_memory.ledger.sqlite.traces import SqliteTraces


@pytest.fixture(params=["ram", "sqlite"])
def traces(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Traces]:
    made: Traces = (
        RamTraces()
        if request.param == "ram"
        else SqliteTraces(tmp_path / "traces.sqlite3", SystemDisk())
    )
    yield made
    made.close()


def row(number: int, user_id: str = "u1", words: str = "a question") -> TraceRow:
    return TraceRow(number, user_id, "{}", b"\0\0\0\0", words)


def test_traces_are_listed_by_user_the_latest_first(traces: Traces):
    traces.keep([row(1), row(2, "u2"), row(3)], since=0, most=10)
    assert traces.latest("u1", 10, since=0) == [row(3), row(1)]
    assert traces.latest("u1", 1, since=0) == [row(3)]
    assert traces.latest("u1", 10, since=2) == [row(3)]
    assert traces.one(2) == row(2, "u2")
    assert traces.one(9) is None


def test_the_oldest_go_when_there_are_too_many_or_they_are_too_old(traces: Traces):
    traces.keep([row(n) for n in range(1, 6)], since=0, most=3)
    assert [one.number for one in traces.latest("u1", 10, since=0)] == [5, 4, 3]
    traces.keep([row(6)], since=5, most=10)
    assert [one.number for one in traces.latest("u1", 10, since=0)] == [6, 5]


def test_words_are_forgotten_and_the_rest_stays(traces: Traces):
    traces.keep([row(1), row(2, "u2")], since=0, most=10)
    traces.forget_words("u1")
    assert traces.one(1) == row(1, words="")
    assert traces.one(2) == row(2, "u2")


def test_a_user_is_erased(traces: Traces):
    traces.keep([row(1), row(2, "u2")], since=0, most=10)
    traces.erase("u1")
    assert traces.latest("u1", 10, since=0) == []
    assert traces.one(2) == row(2, "u2")


def test_no_byte_of_forgotten_words_is_left_in_the_files(tmp_path: Path):
    kept = SqliteTraces(tmp_path / "traces.sqlite3", SystemDisk())
    kept.keep([row(n, words=f"where is the xylophone {n}") for n in range(50)], since=0, most=100)
    kept.forget_words("u1")
    files = [*tmp_path.iterdir()]
    assert files
    assert not any(b"xylophone" in file.read_bytes() for file in files)
    kept.close()


def test_erasing_where_nothing_was_kept_makes_no_file(tmp_path: Path):
    kept = SqliteTraces(tmp_path / "traces.sqlite3", SystemDisk())
    kept.erase("u1")
    kept.forget_words("u1")
    kept.close()
    assert [*tmp_path.iterdir()] == []
