"""Following the ledger with an index, and surviving the index."""

from collections.abc import Sequence

import pytest

from semantic_memory.changes import Add, FactVectors, Forget, Update
from semantic_memory.errors import IndexBrokenError
from semantic_memory.events import IndexSetAside, IndexSynced
from semantic_memory.index.keeper import IndexKeeper
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ports import IndexEntry
from semantic_memory.testing import InMemoryIndex
from tests.conftest import NOW, eventually, make_fact, unit_vectors


@pytest.fixture
def ledger(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def add(ledger, *numbers: int, **values) -> None:
    ledger.apply(
        [
            Add(make_fact(n, **values), FactVectors(unit_vectors(1, seed=n), unit_vectors(0)))
            for n in numbers
        ]
    )


class Breaking(InMemoryIndex):
    """Fails the first `failures` writes of the test."""

    failures = 0

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        if Breaking.failures:
            Breaking.failures -= 1
            raise IndexBrokenError("it broke")
        super().upsert(entries)


def keeper_of(ledger, tmp_path, open_index, events, own_at=1_000) -> IndexKeeper:
    return IndexKeeper(open_index, tmp_path / "chroma", ledger, events.append, own_at)


def test_it_brings_the_index_level_and_opens_it_only_then(ledger, tmp_path, events):
    opened = []

    def open_index(_: str) -> InMemoryIndex:
        opened.append(InMemoryIndex())
        return opened[-1]

    keeper = keeper_of(ledger, tmp_path, open_index, events)
    keeper.sync()
    assert opened == []
    add(ledger, *range(600))
    keeper.sync()
    assert opened[0].count() == 600
    ledger.apply([Forget("fact-3", NOW), Update(make_fact(4, confidence=0.2), "x", NOW)])
    keeper.sync()
    assert "fact-3" not in opened[0].ids()
    assert keeper.differences() == (set(), set())
    assert [(e.upserted, e.deleted) for e in events if isinstance(e, IndexSynced)] == [
        (600, 0),
        (1, 1),
    ]


def test_after_reopening_only_what_is_new_is_sent(ledger, tmp_path, events):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, tmp_path, lambda _: index, events)
    add(ledger, 1, 2)
    keeper.sync()
    keeper.close()
    add(ledger, 3)
    again = keeper_of(ledger, tmp_path, lambda _: index, events)
    again.sync()
    assert index.count() == 3
    assert [e.upserted for e in events] == [2, 1]


def test_an_index_that_lost_everything_is_filled_again(ledger, tmp_path, events):
    keeper = keeper_of(ledger, tmp_path, lambda _: InMemoryIndex(), events)
    add(ledger, 1, 2)
    keeper.sync()
    keeper.close()
    add(ledger, 3)
    again = keeper_of(ledger, tmp_path, lambda _: InMemoryIndex(), events)
    assert again.differences() == (set(), set())


def test_a_broken_index_is_set_aside_and_refilled(ledger, tmp_path, events):
    Breaking.failures = 2
    keeper = keeper_of(ledger, tmp_path, lambda _: Breaking(), events)
    add(ledger, 1, 2)
    keeper.sync()
    assert keeper.differences() == (set(), set())
    assert [e.reason for e in events if isinstance(e, IndexSetAside)] == ["it broke"] * 2


def test_an_index_that_breaks_again_and_again_is_given_up_and_queries_go_on(
    ledger, tmp_path, events
):
    Breaking.failures = 1_000
    keeper = keeper_of(ledger, tmp_path, lambda _: Breaking(), events)
    add(ledger, 1, 2)
    with pytest.raises(IndexBrokenError):
        keeper.sync()
    Breaking.failures = 0
    assert [m.id for m in keeper.query(unit_vectors(1, seed=2)[0], user_id="u1", limit=1)] == [
        "fact-2"
    ]


def test_queries_are_answered_from_the_ledger_until_the_index_is_level(ledger, tmp_path, events):
    asked = []

    class Recording(InMemoryIndex):
        def query(self, vector, **scope):
            asked.append(scope)
            return super().query(vector, **scope)

    keeper = keeper_of(ledger, tmp_path, lambda _: Recording(), events)
    add(ledger, 1, 2)
    vector = unit_vectors(1, seed=2)[0]
    before = keeper.query(vector, user_id="u1", limit=2)
    assert asked == []
    keeper.sync()
    after = keeper.query(vector, user_id="u1", limit=2)
    assert len(asked) == 1
    assert [match.id for match in before] == [match.id for match in after] == ["fact-2", "fact-1"]


def test_a_query_that_breaks_the_index_is_answered_all_the_same(ledger, tmp_path, events):
    class BreakingQuery(InMemoryIndex):
        def query(self, vector, **scope):
            raise IndexBrokenError("its process was ended by SIGSEGV")

    keeper = keeper_of(ledger, tmp_path, lambda _: BreakingQuery(), events)
    add(ledger, 1)
    keeper.sync()
    assert keeper.query(unit_vectors(1, seed=1)[0], user_id="u1", limit=1)[0].id == "fact-1"
    assert "SIGSEGV" in events[-1].reason


def test_a_large_user_is_held_apart(ledger, tmp_path, events):
    apart = set()

    class Separating(InMemoryIndex):
        def owns(self, user_id: str) -> bool:
            return user_id in apart

        def own(self, user_id: str) -> None:
            apart.add(user_id)

    keeper = keeper_of(ledger, tmp_path, lambda _: Separating(), events, own_at=5)
    add(ledger, *range(5))
    add(ledger, 10, user_id="u2")
    keeper.sync()
    assert apart == set()
    add(ledger, 6)
    keeper.sync()
    assert apart == {"u1"}


def test_rebuilding_fills_a_new_index(ledger, tmp_path, events):
    made = []

    def open_index(generation: str) -> InMemoryIndex:
        made.append(generation)
        return InMemoryIndex()

    keeper = keeper_of(ledger, tmp_path, open_index, events)
    add(ledger, 1, 2)
    keeper.sync()
    assert keeper.rebuild() == 2
    assert len(set(made)) == 2


def test_it_follows_in_the_background(ledger, tmp_path, events):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, tmp_path, lambda _: index, events)
    keeper.follow()
    add(ledger, 1)
    keeper.wake()
    assert eventually(lambda: index.ids() == {"fact-1"})
    keeper.close()
