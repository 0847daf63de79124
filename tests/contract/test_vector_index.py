"""What every vector index does: Chroma here and in its own process, the exact scan, the stand-in.

The exact scan follows a ledger, so its adapter below writes to one instead of to the index.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from semantic_memory.changes import Add, FactVectors, Forget, Update
from semantic_memory.index.chroma import ChromaIndex
from semantic_memory.index.exact import ExactIndex
from semantic_memory.index.keeper import IndexKeeper
from semantic_memory.index.process import ChromaProcess
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.models import NO_FILTERS, Filters, Source
from semantic_memory.ports import IndexEntry, VectorIndex
from semantic_memory.testing import InMemoryIndex
from tests.conftest import NOW, make_fact, unit_vectors


class LedgerBacked:
    """The exact scan (`limit` high) or the scan of the ledger (`limit` 0), fed through a ledger."""

    def __init__(self, path: Path, limit: int) -> None:
        self._ledger = SqliteLedger(path / "ledger.sqlite3")
        keeper = IndexKeeper(lambda _: InMemoryIndex(), path / "x", self._ledger, print, own_at=9)
        self._index = ExactIndex(self._ledger, keeper, budget_bytes=10**7, limit=limit)

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        for entry in entries:
            vectors = FactVectors(entry.windows, entry.windows[:0])
            if not self._ledger.apply([Add(entry.fact, vectors)]):
                # New vectors come with new content; the same content keeps its own.
                self._ledger.apply([Update(entry.fact, "updated", NOW)])

    def delete(self, fact_ids: Sequence[str]) -> None:
        for fact in self._ledger.get(fact_ids):
            self._ledger.apply([Forget(fact.id, NOW)])

    def query(self, vector, *, user_id, limit, filters=NO_FILTERS):
        return self._index.query(vector, user_id=user_id, limit=limit, filters=filters)

    def ids(self) -> set[str]:
        return self._ledger.embedded_ids()

    def count(self) -> int:
        return len(self.ids())

    def close(self) -> None:
        self._ledger.close()


@pytest.fixture(params=["memory", "exact", "scan", "chroma", "chroma-process", "chroma-own"])
def index(request, tmp_path: Path) -> Iterator[VectorIndex]:
    match request.param:
        case "memory":
            index: VectorIndex = InMemoryIndex()
        case "exact":
            index = LedgerBacked(tmp_path, limit=10_000)
        case "scan":
            index = LedgerBacked(tmp_path, limit=0)
        case "chroma":
            index = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)
        case "chroma-process":
            index = ChromaProcess(tmp_path / "chroma", "g", sync_threshold=1_000)
        case "chroma-own":
            index = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)
            index.upsert([IndexEntry(make_fact(10**6), unit_vectors(1, seed=99))])
            index.own("u1")
            index.delete([make_fact(10**6).id])
            assert index.owns("u1")
    yield index
    index.close()


def entry(number: int, *, windows: int = 1, **values) -> IndexEntry:
    return IndexEntry(make_fact(number, **values), unit_vectors(windows, seed=number))


def query(index, vector, limit=10, user_id="u1", filters=NO_FILTERS) -> list[str]:
    return [
        match.id for match in index.query(vector, user_id=user_id, limit=limit, filters=filters)
    ]


def test_the_nearest_come_first_with_their_cosine(index):
    entries = [entry(number) for number in range(30)]
    index.upsert(entries)
    vector = unit_vectors(1, seed=77)[0]
    expected = sorted(((float(e.windows[0] @ vector), e.fact.id) for e in entries), reverse=True)
    found = index.query(vector, user_id="u1", limit=5)
    assert [match.id for match in found] == [fact_id for _, fact_id in expected[:5]]
    assert [match.similarity for match in found] == pytest.approx(
        [s for s, _ in expected[:5]], abs=1e-5
    )


def test_a_user_finds_nothing_of_another(index):
    index.upsert([entry(1), entry(2, user_id="u2")])
    assert query(index, entry(2).windows[0]) == ["fact-1"]
    assert query(index, entry(2).windows[0], user_id="u2") == ["fact-2"]
    assert query(index, entry(2).windows[0], user_id="u3") == []


def test_a_long_memory_is_found_by_any_window_and_once(index):
    long = entry(1, windows=4)
    index.upsert([long, entry(2)])
    for window in long.windows:
        found = index.query(window, user_id="u1", limit=2)
        assert [match.id for match in found] == ["fact-1", "fact-2"]
        assert found[0].similarity == pytest.approx(1.0, abs=1e-5)


def test_upserting_twice_changes_nothing(index):
    index.upsert([entry(1), entry(2)])
    index.upsert([entry(1)])
    assert index.count() == 2
    assert index.ids() == {"fact-1", "fact-2"}


def test_what_is_deleted_is_not_found(index):
    index.upsert([entry(1, windows=3), entry(2)])
    index.delete(["fact-1", "unknown"])
    assert query(index, entry(1).windows[0]) == ["fact-2"]
    assert index.ids() == {"fact-2"}


def test_changed_metadata_replaces_the_old(index):
    index.upsert([entry(1, tags=("a.b",), confidence=0.9)])
    index.upsert([entry(1, tags=(), confidence=0.3)])
    vector = entry(1).windows[0]
    assert query(index, vector, filters=Filters(tags=("a",))) == []
    assert query(index, vector, filters=Filters(min_confidence=0.5)) == []
    assert query(index, vector) == ["fact-1"]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(categories={"project"}),
        Filters(categories=set()),
        Filters(tags=("a",)),
        Filters(tags=("a.b", "c")),
        Filters(since=NOW + timedelta(days=2)),
        Filters(until=NOW + timedelta(days=2)),
        Filters(min_confidence=0.5),
        Filters(session_id="s1"),
        Filters(as_of=NOW + timedelta(days=1)),
        Filters(as_of=NOW + timedelta(days=9)),
        Filters(categories={"project"}, tags=("a",), min_confidence=0.2),
    ],
    ids=str,
)
def test_filters_say_what_their_reference_says(index, filters):
    tags = [(), ("a",), ("a.b",), ("a.b", "c"), ("ab",)]
    entries = [
        entry(
            number,
            category=["preference", "project"][number % 2],
            tags=tags[number % 5],
            created_at=NOW + timedelta(days=number % 4),
            valid_from=NOW + timedelta(days=number % 3),
            confidence=number / 30,
            status=["active", "superseded", "archived"][number % 3],
            valid_to=NOW + timedelta(days=5) if number % 3 == 1 else None,
            source=Source(session_id=f"s{number % 3}"),
        )
        for number in range(30)
    ]
    index.upsert(entries)
    expected = {e.fact.id for e in entries if filters.admits(e.fact)}
    assert set(query(index, entries[0].windows[0], limit=100, filters=filters)) == expected


def test_a_filter_that_lets_little_through_still_fills_the_limit(index):
    entries = [entry(n, confidence=0.9 if n % 100 == 0 else 0.1) for n in range(600)]
    index.upsert(entries)
    found = query(index, entries[1].windows[0], limit=6, filters=Filters(min_confidence=0.5))
    assert set(found) == {f"fact-{number}" for number in range(0, 600, 100)}


def test_an_empty_index_answers(index):
    vector = unit_vectors(1)[0]
    assert query(index, vector) == []
    assert index.count() == 0
    index.delete(["unknown"])


def test_all_agree_on_random_data():
    """Chroma's HNSW is approximate; at this size it must find what the exact scan finds."""
    entries = [entry(number, windows=1 + number % 3) for number in range(300)]
    exact = InMemoryIndex()
    exact.upsert(entries)
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        chroma = ChromaIndex(Path(directory, "chroma"), sync_threshold=100)
        chroma.upsert(entries)
        for seed in range(20):
            vector = unit_vectors(1, seed=1_000 + seed)[0]
            theirs = query(chroma, vector)
            assert len(set(theirs) & set(query(exact, vector))) >= 9
        chroma.close()
    assert np.isfinite(vector).all()
