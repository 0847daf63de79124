"""Keeping an index in sync with the ledger, and surviving its failures."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Add, FactVectors, Forget, Update
from semantic_memory.domain.errors import (
    IndexBrokenError,
    IndexBusyError,
    IndexUnavailableError,
    StoreClosedError,
)
from semantic_memory.domain.events import Event, IndexSetAside, IndexSynced, WorkerFailed
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import IndexEntry
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.pipeline.following import Indexing
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.stage import INDEX, WHOLE
from semantic_memory.testing import InMemoryIndex
from semantic_memory.vectors.home import ChromaDirectory, GivenIndex
from semantic_memory.vectors.sync import IndexKeeper
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


class Failing(InMemoryIndex):
    """Index that raises `failures` in turn when written, and `refusal` when queried."""

    def __init__(self, *failures: Exception, refusal: Exception | None = None) -> None:
        super().__init__()
        self.failures = [*failures]
        self.refusal = refusal
        self.asked = 0
        self.closed = False

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        super().upsert(entries)

    def query(self, vector, **scope):
        self.asked += 1
        if self.refusal is not None:
            raise self.refusal
        return super().query(vector, **scope)

    def close(self) -> None:
        self.closed = True


class Home(GivenIndex):
    """A home whose opening can fail, and that counts openings."""

    def __init__(self, index, *failures: Exception) -> None:
        super().__init__(index)
        self.failures = [*failures]
        self.opened = self.emptied = 0

    def open(self, generation: str):
        self.opened += 1
        if self.failures:
            raise self.failures.pop(0)
        return super().open(generation)

    def empty(self) -> None:
        self.emptied += 1
        super().empty()


def keeper_of(ledger, home, events, own_at=1_000) -> IndexKeeper:
    home = home if isinstance(home, GivenIndex) else GivenIndex(home)
    return IndexKeeper(home, ledger, events.append, own_at, lags=lambda: None)


@contextmanager
def in_background(keeper: IndexKeeper, events: list[Event]) -> Iterator[Callable[[], None]]:
    """Run the keeper's stage on a thread; return the function that wakes it."""
    runner = Runner(events.append, retry_seconds=60, threads=1)
    runner.add(Indexing(keeper))
    runner.start()
    yield lambda: runner.hint(INDEX, WHOLE)
    runner.close()


def asked(keeper, number: int, limit: int = 1, **scope) -> list[str]:
    vector = unit_vectors(1, seed=number)[0]
    found = keeper.query(vector, **{"user_id": "u1", "limit": limit, **scope})
    return [match.id for match in found]


def reasons(events) -> list[str]:
    return [event.reason for event in events if isinstance(event, IndexSetAside)]


def test_it_brings_the_index_level_and_opens_it_only_then(ledger, events):
    home = Home(index := InMemoryIndex())
    keeper = keeper_of(ledger, home, events)
    keeper.sync()
    assert home.opened == 0
    add(ledger, *range(600))
    keeper.sync()
    assert index.count() == 600
    ledger.apply([Forget("fact-3", NOW), Update(make_fact(4, confidence=0.2), "x", NOW)])
    keeper.sync()
    assert "fact-3" not in index.ids()
    assert keeper.differences() == (set(), set())
    assert [(e.upserted, e.deleted) for e in events] == [(600, 0), (1, 1)]


def test_after_reopening_only_what_is_new_is_sent(ledger, events):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1, 2)
    keeper.sync()
    keeper.close()
    add(ledger, 3)
    again = keeper_of(ledger, index, events)
    again.sync()
    assert index.count() == 3
    assert [e.upserted for e in events] == [2, 1]


def test_an_index_that_lost_everything_is_filled_again(ledger, events):
    keeper = keeper_of(ledger, InMemoryIndex(), events)
    add(ledger, 1, 2)
    keeper.sync()
    keeper.close()
    add(ledger, 3)
    again = keeper_of(ledger, index := InMemoryIndex(), events)
    again.sync()
    assert index.count() == 3
    assert reasons(events) == ["it holds 0 memories instead of 2"]


def test_an_index_that_lost_a_part_or_is_another_is_emptied_and_filled_again(ledger, events):
    add(ledger, *range(10))
    keeper_of(ledger, index := InMemoryIndex(), events).sync()
    index.delete(["fact-1"])
    keeper = keeper_of(ledger, index, events)
    assert keeper.differences() == (set(), set())
    foreign = InMemoryIndex()
    foreign.upsert([IndexEntry(make_fact(n), unit_vectors(1, seed=n)) for n in range(100, 200)])
    again = keeper_of(ledger, foreign, events)
    assert again.differences() == (set(), set())
    assert reasons(events) == [
        "it holds 9 memories instead of 10",
        "it holds 100 memories instead of 10",
    ]


def test_what_an_index_held_before_a_new_store_was_given_it_is_taken_out(ledger, events):
    index = InMemoryIndex()
    index.upsert([IndexEntry(make_fact(99, user_id="stranger"), unit_vectors(1))])
    add(ledger, 1)
    keeper_of(ledger, index, events).sync()
    assert index.ids() == {"fact-1"}
    assert reasons(events) == []


@pytest.mark.parametrize("change", ["nothing is embedded yet", "all was forgotten"])
def test_an_index_that_is_empty_with_reason_has_lost_nothing(ledger, events, change):
    if change == "nothing is embedded yet":
        ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    else:
        add(ledger, 1, 2)
        keeper_of(ledger, InMemoryIndex(), []).sync()
        ledger.apply([Forget("fact-1", NOW), Forget("fact-2", NOW)])
    index = InMemoryIndex()
    keeper_of(ledger, index, []).sync()
    add(ledger, 3)
    keeper_of(ledger, index, events).sync()
    assert reasons(events) == []
    assert index.ids() == {"fact-3"}


def test_a_broken_index_is_emptied_and_refilled(ledger, events):
    index = Failing(IndexBrokenError("it broke"), IndexBrokenError("it broke"))
    keeper = keeper_of(ledger, home := Home(index), events)
    add(ledger, 1, 2)
    keeper.sync()
    assert keeper.differences() == (set(), set())
    assert reasons(events) == ["it broke"] * 2
    assert home.emptied == 3
    assert not index.closed
    keeper.close()
    assert index.closed


def test_an_index_that_breaks_again_and_again_is_given_up_and_queries_go_on(ledger, events):
    keeper = keeper_of(ledger, Failing(*[IndexBrokenError("it broke")] * 9), events)
    add(ledger, 1, 2)
    with pytest.raises(IndexBrokenError):
        keeper.sync()
    assert asked(keeper, 2) == ["fact-2"]


def test_an_index_that_cannot_be_started_is_kept_and_queries_go_on(ledger, events):
    index = InMemoryIndex()
    add(ledger, 1, 2)
    keeper_of(ledger, index, []).sync()
    add(ledger, 3)
    home = Home(index, *[IndexUnavailableError("no such interpreter")] * 2)
    keeper = keeper_of(ledger, home, events)
    for _ in range(2):
        with pytest.raises(IndexUnavailableError):
            keeper.sync()
    assert asked(keeper, 3) == ["fact-3"]
    assert index.count() == 2
    keeper.sync()
    assert index.count() == 3
    assert home.emptied == 0
    assert [(e.upserted, e.deleted) for e in events] == [(1, 0)]


def test_the_background_tries_again_later_what_could_not_be_started(ledger, events):
    home = Home(index := InMemoryIndex(), IndexUnavailableError("out of memory"))
    keeper = keeper_of(ledger, home, events)
    add(ledger, 1)
    with in_background(keeper, events) as wake:
        assert eventually(lambda: events)
        for _ in range(50):
            wake()  # what is written meanwhile doesn't hasten it
        assert home.opened == 1
        assert eventually(lambda: index.count() == 1)
    keeper.close()
    (failed,) = [event for event in events if isinstance(event, WorkerFailed)]
    assert "out of memory" in failed.error
    assert failed.retry_seconds == 1.0


def test_an_index_that_went_away_is_opened_again_where_it_was(ledger, events):
    index = Failing(IndexUnavailableError("its process was ended by SIGKILL"))
    keeper = keeper_of(ledger, home := Home(index), events)
    add(ledger, 1, 2)
    keeper.sync()
    assert index.count() == 2
    assert (home.opened, home.emptied) == (2, 1)
    assert reasons(events) == []


def test_what_is_forgotten_while_it_is_being_indexed_does_not_stay(ledger, events):
    class Overtaken(InMemoryIndex):
        def upsert(self, entries):
            if forgotten := {entry.fact.id for entry in entries} & {"fact-1", "fact-3"}:
                ledger.apply([Forget(one, NOW) for one in sorted(forgotten)])
            super().upsert(entries)

    keeper = keeper_of(ledger, index := Overtaken(), events)
    add(ledger, 1, 2)
    add(ledger, 3, user_id="u2")
    keeper.sync()
    assert asked(keeper, 1, limit=9) == ["fact-2"]
    while keeper.behind:
        keeper.sync()
    assert index.ids() == {"fact-2"}
    assert keeper.differences() == (set(), set())


def test_what_was_indexed_before_a_kill_is_indexed_again_and_nothing_is_lost(ledger, events):
    class Killed(Home):
        def note(self, changes: int) -> None:
            raise KeyboardInterrupt

    index = InMemoryIndex()
    add(ledger, 1, 2)
    with pytest.raises(KeyboardInterrupt):
        keeper_of(ledger, Killed(index), events).sync()
    ledger.apply([Forget("fact-1", NOW)])
    again = keeper_of(ledger, index, events)
    again.sync()
    assert again.differences() == (set(), set())
    assert [(e.upserted, e.deleted) for e in events] == [(1, 1)]


def test_an_index_of_another_home_than_the_last_is_filled_anew(ledger, events):
    class Another(Home):
        name = "another"

    add(ledger, 1, 2)
    keeper_of(ledger, first := InMemoryIndex(), events).sync()
    add(ledger, 3)
    keeper_of(ledger, Another(second := InMemoryIndex()), events).sync()
    ledger.apply([Forget("fact-1", NOW)])
    keeper_of(ledger, first, events).sync()
    assert (second.count(), first.ids()) == (3, {"fact-2", "fact-3"})


def test_queries_are_answered_from_the_ledger_until_the_index_is_level(ledger, events):
    index = Failing()
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1, 2)
    before = asked(keeper, 2, limit=2)
    assert index.asked == 0
    keeper.sync()
    after = asked(keeper, 2, limit=2)
    assert index.asked == 1
    assert before == after == ["fact-2", "fact-1"]


def test_a_query_finds_what_was_written_since_and_not_what_it_replaced(ledger, events):
    index = Failing()
    keeper = keeper_of(ledger, index, events)
    add(ledger, *range(10))
    keeper.sync()
    add(ledger, 10, 11, 12)
    ledger.apply([Forget("fact-1", NOW), Update(make_fact(2, confidence=0.1), "x", NOW)])
    expected = {f"fact-{n}" for n in range(13)} - {"fact-1"}
    assert asked(keeper, 11) == ["fact-11"]
    assert set(asked(keeper, 11, limit=50)) == expected
    few = asked(keeper, 1, limit=9)
    assert len(few) == 9
    assert "fact-1" not in few
    sure = asked(keeper, 2, limit=50, filters=Filters(min_confidence=0.5))
    assert set(sure) == expected - {"fact-2"}
    assert index.asked == 4


def test_when_very_much_was_written_since_the_ledger_is_scanned(ledger, events):
    index = Failing()
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1)
    keeper.sync()
    add(ledger, *range(2, 1_100))
    assert asked(keeper, 1_050) == ["fact-1050"]
    assert index.asked == 0


def test_a_busy_index_is_not_waited_for_and_nothing_is_wrong_with_it(ledger, events):
    index = Failing(refusal=IndexBusyError("it is occupied"))
    keeper = keeper_of(ledger, home := Home(index), events)
    add(ledger, 1, 2)
    keeper.sync()
    assert asked(keeper, 2) == ["fact-2"]
    keeper.sync()
    index.refusal = None
    assert asked(keeper, 2) == ["fact-2"]
    assert (home.opened, index.asked) == (1, 2)


def test_a_query_that_breaks_the_index_is_answered_all_the_same(ledger, events):
    index = Failing(refusal=IndexBrokenError("its process was ended by SIGSEGV"))
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1)
    keeper.sync()
    assert asked(keeper, 1) == ["fact-1"]
    keeper.sync()
    assert reasons(events) == ["its process was ended by SIGSEGV"]


def test_an_index_broken_by_the_last_query_before_closing_is_not_used_again(ledger, events):
    index = Failing(refusal=IndexBrokenError("its process was ended by SIGSEGV"))
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1)
    keeper.sync()
    asked(keeper, 1)
    keeper.close()
    home = Home(index)
    keeper_of(ledger, home, events).sync()
    assert home.emptied == 1
    assert reasons(events) == ["its process was ended by SIGSEGV"]


def test_a_query_whose_index_is_emptied_meanwhile_asks_the_ledger(ledger, events):
    class Emptied(InMemoryIndex):
        def query(self, vector, **scope):
            keeper.rebuild()
            self.delete(["fact-1"])  # as if it were not filled again yet
            return super().query(vector, **scope)

    keeper = keeper_of(ledger, Emptied(), events)
    add(ledger, 1)
    keeper.sync()
    assert asked(keeper, 1) == ["fact-1"]


def test_a_query_does_not_wait_for_a_sync_under_way(ledger, events):
    entered, leave = threading.Event(), threading.Event()

    class Slow(InMemoryIndex):
        def upsert(self, entries):
            entered.set()
            assert leave.wait(120)
            super().upsert(entries)

    keeper = keeper_of(ledger, Slow(), events)
    add(ledger, 1)
    syncing = threading.Thread(target=keeper.sync)
    syncing.start()
    assert entered.wait(120)
    assert asked(keeper, 1) == ["fact-1"]
    leave.set()
    syncing.join()


class Separating(InMemoryIndex):
    copies = True

    def __init__(self) -> None:
        super().__init__()
        self.apart: set[str] = set()

    def owns(self, user_id: str) -> bool:
        return user_id in self.apart

    def own(self, user_id: str) -> None:
        self.apart.add(user_id)


def test_a_large_user_is_held_apart(ledger, events):
    index = Separating()
    keeper = keeper_of(ledger, index, events, own_at=5)
    add(ledger, *range(5))
    add(ledger, 10, user_id="u2")
    keeper.sync()
    assert index.apart == set()
    add(ledger, 6)
    keeper.sync()
    assert index.apart == {"u1"}


def test_a_user_who_is_asked_about_is_held_apart(ledger, events):
    index = Separating()
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1)
    add(ledger, 2, user_id="u2")
    keeper.sync()
    asked(keeper, 2, user_id="u2")
    asked(keeper, 2, user_id="nobody")
    keeper.sync()
    assert index.apart == {"u2"}


def test_rebuilding_empties_the_index_first(ledger, events):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, home := Home(index), events)
    add(ledger, 1, 2)
    keeper.sync()
    index.upsert([IndexEntry(make_fact(99), unit_vectors(1))])
    assert keeper.differences() == (set(), {"fact-99"})
    assert keeper.rebuild() == 2
    assert index.ids() == {"fact-1", "fact-2"}
    assert home.emptied == 2


@pytest.mark.parametrize("call", ["rebuild", "reset", "sync", "differences"])
def test_once_closed_it_refuses_and_removes_nothing(ledger, events, call):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, index, events)
    add(ledger, 1)
    keeper.sync()
    keeper.close()
    with pytest.raises(StoreClosedError):
        getattr(keeper, call)()
    assert index.ids() == {"fact-1"}
    again = keeper_of(ledger, home := Home(index), events)
    add(ledger, 2)
    again.sync()
    assert home.emptied == 0


def test_it_follows_in_the_background(ledger, events):
    index = InMemoryIndex()
    keeper = keeper_of(ledger, index, events)
    with in_background(keeper, events) as wake:
        add(ledger, 1)
        wake()
        assert eventually(lambda: index.ids() == {"fact-1"})
    keeper.close()
    assert eventually(lambda: any(isinstance(event, IndexSynced) for event in events))


def test_no_copy_is_deleted_when_there_is_nothing_to_set_aside(tmp_path: Path):
    home = ChromaDirectory(tmp_path / "chroma", 100, SystemDisk())
    (tmp_path / "chroma.broken").mkdir()
    assert home.set_aside() is None
    assert (tmp_path / "chroma.broken").exists()
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "newer").touch()
    assert home.set_aside() == tmp_path / "chroma.broken"
    assert (tmp_path / "chroma.broken" / "newer").exists()


class Filled(InMemoryIndex):
    """Index that records how it is written, and holds users apart."""

    copies = True

    def __init__(self) -> None:
        super().__init__()
        self.written: list[tuple[str, int]] = []
        self.apart: set[str] = set()

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        self.written.append(("upsert", len(entries)))
        super().upsert(entries)

    def fill(self, entries: Sequence[IndexEntry]) -> None:
        self.written.append(("fill", len(entries)))
        super().upsert(entries)

    def owns(self, user_id: str) -> bool:
        return user_id in self.apart

    def own(self, user_id: str) -> None:
        self.written.append(("own", self.count()))
        self.apart.add(user_id)


def test_an_index_that_answers_no_queries_yet_is_filled_in_large_portions(ledger, events):
    keeper = keeper_of(ledger, index := Filled(), events)
    add(ledger, *range(1_200))
    keeper.sync()
    add(ledger, 1_200)
    keeper.sync()
    keeper.rebuild()
    assert [(how, n) for how, n in index.written if how != "own"] == [
        *[("fill", 1_000), ("fill", 200)],
        ("upsert", 1),
        *[("fill", 1_000), ("fill", 201)],
    ]


def test_a_user_who_was_searched_is_held_apart_before_anything_is_written(ledger, events):
    keeper = keeper_of(ledger, index := Filled(), events, own_at=1_000)
    add(ledger, 1, 2, 3)
    asked(keeper, 1)
    keeper.sync()
    assert index.written == [("own", 0), ("fill", 3)]


def test_a_note_with_any_bit_flipped_counts_as_none(tmp_path):
    home = ChromaDirectory(tmp_path / "chroma", 100, SystemDisk())
    (tmp_path / "chroma").mkdir()
    home.note(4_711)
    file = tmp_path / "chroma" / "position"
    written = file.read_bytes()
    assert home.position() == 4_711
    for bit in range(8 * len(written)):
        flipped = bytearray(written)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        assert home.position() == 0, bit
    for end in range(len(written)):
        file.write_bytes(written[:end])
        assert home.position() == 0, end


def test_a_note_of_an_earlier_version_tells_nothing(tmp_path):
    home = ChromaDirectory(tmp_path / "chroma", 100, SystemDisk())
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "position").write_bytes(b"4711")
    assert home.position() is None
