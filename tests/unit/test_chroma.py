"""Contents of Chroma's collections."""

import sqlite3
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from semantic_memory.domain.facts import Source
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.vectors.chroma import index as chroma
from semantic_memory.vectors.chroma.index import SHARED, ChromaIndex
from tests.conftest import make_fact, unit_vectors


@pytest.fixture
def index(tmp_path):
    index = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)
    yield index
    index.close()


def entry(number: int, windows: int = 1, seed: int | None = None, **values) -> IndexEntry:
    rows = unit_vectors(windows, seed=number if seed is None else seed)
    return IndexEntry(make_fact(number, **values), rows)


def collections(directory: Path) -> dict[str, chromadb.Collection]:
    """Return the collections of the index that is open in a directory."""
    path, settings = str(directory / "chroma"), chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path, settings=settings)
    return {collection.name: collection for collection in client.list_collections()}


def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Record the writes to the shared collection, and their number of pieces."""
    calls = []
    kind = chromadb.Collection
    for name in ("upsert", "update"):
        method = getattr(kind, name)

        def record(self, *, ids, _name=name, _method=method, **values):
            calls.append((_name, len(ids)))
            _method(self, ids=ids, **values)

        monkeypatch.setattr(kind, name, record)
    return calls


def test_a_long_memory_stores_its_text_once(index, tmp_path):
    index.upsert([entry(1, windows=40, content="long " * 200)])
    held: Any = collections(tmp_path)[SHARED].get(include=["documents"])
    documents = dict(zip(held["ids"], held["documents"], strict=True))
    assert len(documents) == 40
    assert documents.pop("fact-1") == "long " * 200
    assert set(documents.values()) == {""}


def test_a_change_of_metadata_sends_no_vectors(index, tmp_path, monkeypatch):
    index.upsert([entry(1, windows=3, tags=("a",)), entry(2)])
    calls = written(monkeypatch)
    index.upsert([entry(1, windows=3, confidence=0.2), entry(2, confidence=0.2)])
    assert calls == [("update", 4)]
    held: Any = collections(tmp_path)[SHARED].get(include=["metadatas", "embeddings"])
    assert {metadata["confidence"] for metadata in held["metadatas"]} == {0.2}
    assert all(metadata.get("tags") is None for metadata in held["metadatas"])
    assert np.isfinite(held["embeddings"]).all()


def test_two_vectors_with_all_that_filters_read_fit_a_page_of_the_queue(index, tmp_path):
    user, session = "4e1c6f7e-2f0b-4a53-9d3c-0d6c5b1f9a77", "9b0f8a52-77a1-4c1e-8b0e-5f6a2f3d1c11"
    source = Source(session_id=session)
    window = unit_vectors(1, dimension=384)
    index.upsert([IndexEntry(make_fact(1, user_id=user, source=source), window)])
    with sqlite3.connect(tmp_path / "chroma" / "chroma.sqlite3") as db:
        (row,) = db.execute("SELECT * FROM embeddings_queue").fetchall()
    db.close()
    assert sum(len(value) for value in row if isinstance(value, str | bytes)) < 2_000


def test_a_value_that_a_memory_has_lost_is_removed_from_every_piece(index, tmp_path, monkeypatch):
    monkeypatch.setattr(chroma, "BATCH", 2)
    upsert = chromadb.Collection.upsert
    with_all = entry(1, windows=3, agent_id="a", source=Source(session_id="s"), tags=("t",))

    def end(self, **values):
        upsert(self, **values)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(chromadb.Collection, "upsert", end)
        with pytest.raises(KeyboardInterrupt):
            index.upsert([with_all])
    for lost in (entry(1, windows=3), entry(1, windows=3, content="Other")):
        index.upsert([lost])
        held: Any = collections(tmp_path)[SHARED].get(include=["metadatas"])
        assert len(held["ids"]) == 3
        for metadata in held["metadatas"]:
            assert not {"agent_id", "has_agent_id", "session_id", "tags"} & metadata.keys()
        index.upsert([with_all])


def test_tags_of_a_deleted_collection_are_not_found_again(index, tmp_path, monkeypatch):
    monkeypatch.setattr(chroma, "_MOVED_AT_ONCE", 4)
    index.upsert([entry(n, tags=("t",)) for n in range(1, 10)])
    assert all(index.own_more("u1") for _ in range(3))
    index.close()
    again = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)  # deletes the copy begun
    again.upsert([entry(n, user_id="u2") for n in range(11, 30)])
    found = again.query(unit_vectors(1)[0], user_id="u2", limit=30, filters=Filters(tags=("t",)))
    assert found == []
    again.close()


@pytest.mark.parametrize(
    "changed",
    [entry(1, content="Other text"), entry(1, seed=9), entry(1, windows=2), entry(1, windows=4)],
    ids=["text", "vectors", "fewer windows", "more windows"],
)
def test_other_text_or_vectors_are_sent(index, tmp_path, monkeypatch, changed):
    index.upsert([entry(1, windows=3)])
    calls = written(monkeypatch)
    index.upsert([changed])
    assert calls == [("upsert", len(changed.windows))]
    held: Any = collections(tmp_path)[SHARED].get(include=["documents", "embeddings"])
    assert len(held["ids"]) == len(changed.windows)
    assert held["documents"][held["ids"].index("fact-1")] == changed.fact.content
    first = held["embeddings"][held["ids"].index("fact-1")]
    assert first @ changed.windows[0] == pytest.approx(1.0, abs=1e-5)


def some_of_two_users() -> list[IndexEntry]:
    own = [entry(n, windows=1 + n % 2) for n in range(200)]
    others = [entry(n, user_id="u2") for n in range(1_000, 1_050)]
    return own + others


def nearest(index: ChromaIndex) -> list[list[str]]:
    vectors = unit_vectors(5, seed=77)
    return [
        [match.id for match in index.query(vector, user_id=user, limit=5)]
        for vector in vectors
        for user in ("u1", "u2")
    ]


def test_a_user_can_be_moved_step_by_step_and_is_found_all_the_while(index, tmp_path, monkeypatch):
    monkeypatch.setattr(chroma, "_MOVED_AT_ONCE", 50)
    index.upsert(some_of_two_users())
    expected, held = nearest(index), index.ids()
    steps = 0
    while index.own_more("u1"):
        steps += 1
        assert nearest(index) == expected
        assert index.ids() == held
    assert steps > 10
    assert index.owns("u1")
    assert nearest(index) == expected
    assert collections(tmp_path)[SHARED].count() == 50


@pytest.mark.parametrize("steps", range(1, 13, 2))
def test_a_move_that_was_cut_off_leaves_nothing_twice(tmp_path, monkeypatch, steps):
    monkeypatch.setattr(chroma, "_MOVED_AT_ONCE", 50)
    index = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)
    index.upsert(some_of_two_users())
    expected, held = nearest(index), index.ids()
    for _ in range(steps):
        assert index.own_more("u1")
    index.close()
    again = ChromaIndex(tmp_path / "chroma", sync_threshold=1_000)
    assert nearest(again) == expected
    assert again.ids() == held
    assert sum(collection.count() for collection in collections(tmp_path).values()) == 350
    again.own("u1")
    assert collections(tmp_path)[SHARED].count() == 50
    assert nearest(again) == expected
    again.close()


def test_a_memory_that_the_end_of_the_process_parted_is_written_again(index, tmp_path, monkeypatch):
    monkeypatch.setattr(chroma, "BATCH", 2)
    upsert = chromadb.Collection.upsert
    writes = 0

    def end_at_the_second(self, **values):
        nonlocal writes
        writes += 1
        if writes == 2:
            raise KeyboardInterrupt
        upsert(self, **values)

    monkeypatch.setattr(chromadb.Collection, "upsert", end_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        index.upsert([entry(1, windows=3)])
    monkeypatch.setattr(chromadb.Collection, "upsert", upsert)
    index.upsert([entry(1, windows=3)])
    assert collections(tmp_path)[SHARED].count() == 3
    window = unit_vectors(3, seed=1)[2]
    (nearest,) = index.query(window, user_id="u1", limit=1)
    assert nearest.similarity > 0.99
