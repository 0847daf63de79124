"""Contract of every vector index: Chroma, here and in its own process, the fake, the service's.

The service's indexes follow a ledger, so their adapters below write to one instead.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from semantic_memory.bootstrap import Parts, build
from semantic_memory.domain.changes import Add, FactVectors, Forget, Matrix, Update
from semantic_memory.domain.facts import Fact, Source
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, Ledger, Match, VectorIndex, VectorSearch
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from semantic_memory.vectors.chroma.index import ChromaIndex
from semantic_memory.vectors.chroma.process import ChromaProcess
from semantic_memory.vectors.chroma.server import ChromaServer
from semantic_memory.vectors.home import GivenIndex, IndexHome
from semantic_memory.vectors.sync import IndexKeeper, SeparatingIndex
from tests.conftest import NOW, make_fact, unit_vectors
from tests.support import chroma, postgres
from tests.support.inside import inside

CASES = itertools.count()
Separating = TypeVar("Separating", bound=SeparatingIndex)


class LedgerBacked:
    """An index fed by a ledger."""

    def __init__(self, ledger: Ledger, search: VectorSearch) -> None:
        self._ledger = ledger
        self._search = search

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        for entry in entries:
            vectors = FactVectors(entry.windows, entry.windows[:0])
            if not self._ledger.apply([Add(entry.fact, vectors)]):
                # New vectors come with new content; the same content keeps its own.
                self._ledger.apply([Update(entry.fact, "updated", NOW)])

    def delete(self, fact_ids: Sequence[str]) -> None:
        for fact in self._ledger.get(fact_ids):
            self._ledger.apply([Forget(fact.id, NOW)])

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        return self._search.query(vector, user_id=user_id, limit=limit, filters=filters)

    def ids(self) -> set[str]:
        return self._ledger.embedded_ids()

    def count(self) -> int:
        return len(self.ids())

    def close(self) -> None:
        self._ledger.close()


class InParts(LedgerBacked):
    """Ledger, keeper and partitions, without background work."""

    def __init__(self, path: Path, limit: int, *, synced: bool = False) -> None:
        ledger = SqliteLedger(path / "ledger.sqlite3")
        self._keeper = IndexKeeper(
            GivenIndex(InMemoryIndex()), ledger, print, own_at=9, lags=lambda: None
        )
        super().__init__(ledger, ExactIndex(ledger, self._keeper, budget_bytes=10**7, limit=limit))
        self._synced = synced

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Write in two halves; if `synced`, only the first one reaches the index."""
        half = len(entries) // 2
        super().upsert(entries[:half])
        if self._synced:
            self._keeper.sync()
        super().upsert(entries[half:])


class InService(LedgerBacked):
    """The index of a service as `SemanticMemory.open` wires it, with background work."""

    def __init__(self, path: Path, limit: int, index: VectorIndex | None) -> None:
        settings = Settings(
            data_dir=path / "store", index=IndexSettings(exact_limit=limit, sync_threshold=1_000)
        )
        parts = Parts(embedder=HashEmbedder(16), index=index, observer=print)
        self._use_cases = build(settings, parts)
        self._parts = inside(self._use_cases)
        super().__init__(self._parts.ledger, self._parts.index)

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        super().upsert(entries)
        self._parts.keeper.sync()

    def delete(self, fact_ids: Sequence[str]) -> None:
        super().delete(fact_ids)
        self._parts.pipeline.changed()

    def ids(self) -> set[str]:
        assert self._parts.keeper.differences() == (set(), set())
        return super().ids()

    def close(self) -> None:
        self._use_cases.close()


def owned(index: Separating) -> Separating:
    """Hold the cases' user apart."""
    index.upsert([IndexEntry(make_fact(10**6), unit_vectors(1, seed=99))])
    index.own("u1")
    index.delete([make_fact(10**6).id])
    assert index.owns("u1")
    return index


MAKERS: dict[str, Callable[[Path], VectorIndex]] = {
    "memory": lambda _: InMemoryIndex(),
    "chroma": lambda path: ChromaIndex(path / "chroma", sync_threshold=1_000),
    "chroma-process": lambda path: ChromaProcess(path / "chroma", "g", sync_threshold=1_000),
    "chroma-own": lambda path: owned(ChromaIndex(path / "chroma", sync_threshold=1_000)),
    "exact": lambda path: InParts(path, limit=10_000),
    "ledger-scan": lambda path: InParts(path, limit=0),
    "index-behind-ledger": lambda path: InParts(path, limit=0, synced=True),
    "service-exact": lambda path: InService(path, limit=10_000, index=InMemoryIndex()),
    "service-given": lambda path: InService(path, limit=0, index=InMemoryIndex()),
    "service-chroma": lambda path: InService(path, limit=0, index=None),
}


def on_chroma_server(request: pytest.FixtureRequest, name: str) -> IndexHome:
    server: chroma.Server = request.getfixturevalue("chroma_server")
    return ChromaServer(server.url, token="", name=name, sync_threshold=1_000)


def on_pgvector(request: pytest.FixtureRequest, name: str) -> IndexHome:
    postgres.require()
    from semantic_memory.vectors.pgvector.home import PgvectorDatabase

    server: postgres.Server = request.getfixturevalue("postgres_server")
    return PgvectorDatabase(f"{server.url}&schema={name}")


SERVED: dict[str, Callable[[pytest.FixtureRequest, str], IndexHome]] = {
    "chroma-server": on_chroma_server,
    "pgvector": on_pgvector,
}
"""Homes of indexes on a server that all cases share, each under a name of its own."""

SHARED = ("chroma-process", "service-chroma")
"""Indexes that serve every case, as their process takes a second to start."""


class OwnUsers:
    """A view of an index, with users and memories of its own."""

    def __init__(self, index: VectorIndex, name: str) -> None:
        self._index = index
        self._prefix = f"{name}-"

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        self._index.upsert([IndexEntry(self._own(one.fact), one.windows) for one in entries])

    def _own(self, fact: Fact) -> Fact:
        names = {"id": self._prefix + fact.id, "user_id": self._prefix + fact.user_id}
        return fact.model_copy(update=names)

    def delete(self, fact_ids: Sequence[str]) -> None:
        self._index.delete([self._prefix + fact_id for fact_id in fact_ids])

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        user_id = self._prefix + user_id
        found = self._index.query(vector, user_id=user_id, limit=limit, filters=filters)
        assert all(match.id.startswith(self._prefix) for match in found)
        return [Match(match.id.removeprefix(self._prefix), match.similarity) for match in found]

    def ids(self) -> set[str]:
        own = (one for one in self._index.ids() if one.startswith(self._prefix))
        return {one.removeprefix(self._prefix) for one in own}

    def count(self) -> int:
        """Return the number of memories; those of earlier views are deleted."""
        return self._index.count()

    def close(self) -> None:
        self.delete(sorted(self.ids()))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], VectorIndex]]:
    """Return a function that opens an index once."""
    with ExitStack() as stack:

        @cache
        def opened(kind: str) -> VectorIndex:
            index = MAKERS[kind](tmp_path_factory.mktemp(kind))
            stack.callback(index.close)
            return index

        yield opened


def opened(request: pytest.FixtureRequest, kind: str, name: str) -> Iterator[VectorIndex]:
    """Open an index on a server, with the cases' user apart if its kind ends so."""
    home = SERVED[kind.removesuffix("-own")](request, name)
    index = home.open("0")
    if kind.endswith("-own"):
        assert isinstance(index, SeparatingIndex)
        owned(index)
    yield index
    home.empty()
    home.close()


@pytest.fixture(params=[*MAKERS, *SERVED, *(f"{kind}-own" for kind in SERVED)])
def index(request, tmp_path: Path, shared) -> Iterator[VectorIndex]:
    index: VectorIndex
    if request.param not in MAKERS:
        yield from opened(request, request.param, f"case{next(CASES)}")
        return
    if request.param in SHARED:
        index = OwnUsers(shared(request.param), f"case{next(CASES)}")
    else:
        index = MAKERS[request.param](tmp_path)
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


def some_filters(dice: random.Random) -> Filters:
    def moment():
        # On the very moments that the facts below have, too: both ends matter.
        return NOW + timedelta(days=dice.randrange(6), microseconds=dice.choice([-1, 0, 0, 1]))

    maybe = {
        "categories": lambda: set(dice.sample(["preference", "project", "finding"], 2)),
        "tags": lambda: tuple(
            dice.sample(["a", "a.b", "b", "ab", "c_d", "c.d"], dice.choice([1, 2]))
        ),
        "since": moment,
        "until": moment,
        "min_confidence": lambda: dice.choice([0.1, 0.3, 0.5, 1.0]),
        "session_id": lambda: f"s{dice.randrange(4)}",
        "as_of": moment,
    }
    drawn = {key: make() for key, make in maybe.items() if dice.random() < 0.3}
    if {"since", "until"} <= drawn.keys() and drawn["since"] >= drawn["until"]:
        drawn["until"] = drawn["since"] + timedelta(microseconds=1)  # a later start is refused
    return Filters(**drawn)


def test_any_filters_say_what_their_reference_says(index):
    dice = random.Random(5)
    tags = ["a", "a.b", "a.b.c", "ab", "b", "c_d", "cxd", "c.d"]
    entries = [
        entry(
            number,
            windows=1 + number % 2,
            category=dice.choice(["preference", "project", "finding"]),
            tags=tuple(dice.sample(tags, dice.randrange(3))),
            created_at=NOW + timedelta(days=dice.randrange(6)),
            valid_from=NOW + timedelta(days=dice.randrange(3)),
            valid_to=NOW + timedelta(days=3 + dice.randrange(3)) if dice.random() < 0.5 else None,
            confidence=dice.choice([0.1, 0.3, 0.5, 1.0]),
            status=dice.choice(["active", "active", "superseded", "archived", "quarantined"]),
            source=Source(session_id=dice.choice([None, "s0", "s1", "s2"])),
        )
        for number in range(60)
    ]
    index.upsert(entries)
    admitted = 0
    for _ in range(60):
        filters = some_filters(dice)
        expected = {e.fact.id for e in entries if filters.admits(e.fact)}
        found = query(index, entries[0].windows[0], limit=100, filters=filters)
        assert set(found) == expected, filters
        assert len(found) == len(expected)
        admitted += len(expected)
    assert admitted > 200


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


def test_chroma_finds_what_the_exact_scan_finds(tmp_path):
    """HNSW is approximate, but at this size it must miss next to nothing."""
    entries = [entry(number, windows=1 + number % 3) for number in range(300)]
    exact = InMemoryIndex()
    exact.upsert(entries)
    chroma = ChromaIndex(tmp_path / "chroma", sync_threshold=100)
    chroma.upsert(entries)
    for seed in range(20):
        vector = unit_vectors(1, seed=1_000 + seed)[0]
        assert len(set(query(chroma, vector)) & set(query(exact, vector))) >= 9
    chroma.close()
