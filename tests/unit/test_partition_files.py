"""Files of partitions: what is read from them, and which of them are believed."""

import errno
import random
from typing import Any

import numpy as np
import pytest

from semantic_memory import SemanticMemory
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Add, Embed, FactVectors, Forget, Update
from semantic_memory.domain.facts import Category, Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval import sealed
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.partition import Kept, Partition
from semantic_memory.retrieval.partition_files import PartitionFiles
from semantic_memory.testing import HashEmbedder
from tests.conftest import NOW, make_fact, unit_vectors
from tests.unit.test_partition import everything

TERMS = ["tea", "ham", "größe"]


@pytest.fixture
def ledger(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


@pytest.fixture
def files(tmp_path, ledger):
    return PartitionFiles(tmp_path / "partitions", ledger, SystemDisk())


def vectors(seed: int, sentences: int = 0) -> FactVectors:
    rows = unit_vectors(1 + sentences, seed=seed)
    return FactVectors(rows[:1], rows[1:])


def fact(number: int, dice: random.Random):
    """A memory of any kind: a message or a fact, in a session or none, with text of any sort."""
    source = Source(
        session_id=dice.choice([None, "s1", "s2"]),
        position=dice.choice([None, dice.randrange(40)]),
        speaker=dice.choice([None, "Ann", "Bob"]),
        message_ids=(f"m{number}",),
    )
    words = ["tea", "ham\nand", "Größe", "ملح", "5", "?"]
    return make_fact(
        number,
        content=" ".join(["Paid", *dice.choices(words, k=dice.randrange(1, 6))]),
        category=dice.choice([Category.CONVERSATION, Category.PERSONAL, Category.PROJECT]),
        source=source,
        tags=tuple(dice.sample(["a", "a.b", "c"], k=dice.randrange(3))),
        agent_id=dice.choice([None, "agent"]),
        follows=tuple(f"fact-{one}" for one in dice.sample(range(number + 1), k=dice.randrange(2))),
    )


def change(ledger, dice: random.Random, first: int, number: int) -> None:
    """Add memories, and change others in every way that a partition follows."""
    for one in range(first, first + number):
        added = fact(one, dice)
        known = dice.random() < 0.8
        ledger.apply([Add(added, vectors(one, dice.randrange(3)) if known else None)])
        other = f"fact-{dice.randrange(first + number)}"
        for held in ledger.get([other]):
            match dice.randrange(6):
                case 0:
                    ledger.apply([Forget(held.id, NOW)])
                case 1:
                    ledger.apply([Embed(held.id, held.content, vectors(one + 500))])
                case 2 if held.category is not Category.CONVERSATION:
                    status = dice.choice([Status.SUPERSEDED, Status.ACTIVE])
                    changed = held.model_copy(update={"status": status})
                    ledger.apply([Update(changed, "x", NOW)])


def level(ledger, partition: Partition, user_id: str = "u1") -> Partition:
    partition.apply(ledger.delta(user_id, partition.revision))
    return partition


def seen(partition: Partition) -> list[object]:
    """All that searches may read of a partition."""
    places = [f"{session}/m{number}" for session in ("s1", "s2") for number in range(300)]
    positions = [(session, number) for session in ("s1", "s2") for number in range(40)]
    filtered = [
        partition.snapshot(one).admitted.tolist()
        for one in (Filters(tags=frozenset({"a"})), Filters(session_id="s1"))
    ]
    return [
        *everything(partition.snapshot(Filters(), TERMS)),
        *filtered,
        {older: [*rows] for older, rows in partition.snapshot().followed_by.items()},
        partition.ended.found(["s1", "s2"], places, positions),
    ]


@pytest.mark.parametrize("seed", range(8))
def test_a_partition_from_a_file_reads_as_one_from_the_ledger_and_follows_it(ledger, files, seed):
    dice = random.Random(seed)
    change(ledger, dice, 0, 40)
    partition = level(ledger, Partition())
    assert files.keep("u1", partition.keep(), files.moment)
    restored = files.read("u1")
    assert restored is not None
    assert restored.revision == partition.revision
    assert seen(restored) == seen(partition)
    for first in (40, 60):
        change(ledger, dice, first, 20)
        assert seen(level(ledger, restored)) == seen(level(ledger, partition))
    assert files.keep("u1", restored.keep(), files.moment)  # what was appended or died, too
    again = files.read("u1")
    assert again is not None
    assert seen(again) == seen(restored)
    change(ledger, dice, 80, 20)
    assert seen(level(ledger, again)) == seen(level(ledger, partition))


def test_a_partition_of_a_file_and_more_is_kept_as_a_whole(ledger, files):
    ledger.apply([Add(make_fact(n, content=f"tea {n}"), vectors(n, 1)) for n in range(5)])
    files.keep("u1", level(ledger, Partition()).keep(), files.moment)
    ledger.apply([Add(make_fact(n, content=f"ham {n}"), vectors(n, 1)) for n in range(5, 9)])
    restored = files.read("u1")
    assert level(ledger, restored).whole
    files.keep("u1", restored.keep(), files.moment)
    assert seen(files.read("u1")) == seen(level(ledger, Partition()))


@pytest.fixture
def kept(ledger, files, tmp_path):
    ledger.apply([Add(make_fact(n, content=f"tea {n}"), vectors(n, 1)) for n in range(300)])
    assert files.keep("u1", level(ledger, Partition()).keep(), files.moment)
    (path,) = (tmp_path / "partitions").iterdir()
    return path


def test_a_file_that_is_damaged_anywhere_is_not_read(files, kept):
    whole = kept.read_bytes()
    found = sealed.read(kept, SystemDisk())
    dice = random.Random(1)
    for place in [*range(24), *(dice.randrange(len(whole)) for _ in range(600))]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        kept.write_bytes(damaged)
        if (partition := files.read("u1")) is not None:  # a byte between two arrays
            damage = sealed.read(kept, SystemDisk())
            assert damage is not None
            assert found is not None
            assert damage[0] == found[0]
            assert all((damage[1][name] == found[1][name]).all() for name in found[1])
            assert len(partition) == 300


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
@pytest.mark.parametrize("zeros", [False, True], ids=["cut", "zeros"])
def test_a_file_that_is_written_in_part_is_not_read(files, kept, share, zeros):
    whole = kept.read_bytes()
    size = int(share * len(whole))
    kept.write_bytes(whole[:size] + bytes(len(whole) - size if zeros else 0))
    assert files.read("u1") is None


def test_a_file_is_believed_by_the_ledger_alone_that_named_it(files, kept, ledger, tmp_path):
    older = kept.read_bytes()
    files.keep("u1", level(ledger, Partition()).keep(), files.moment)
    newer = kept.read_bytes()
    kept.write_bytes(older)
    assert files.read("u1") is None
    kept.write_bytes(newer)
    assert files.read("u1") is not None
    (tmp_path / "other").mkdir()
    other = SqliteLedger(tmp_path / "other" / "ledger.sqlite3")
    other.apply([Add(make_fact(n), vectors(n)) for n in range(300)])
    assert PartitionFiles(kept.parent, other, SystemDisk()).read("u1") is None
    other.close()


def test_a_file_of_another_form_or_user_is_not_read(files, kept, monkeypatch):
    assert files.read("u2") is None
    monkeypatch.setattr("semantic_memory.retrieval.partition_files.FORM", "0")
    assert files.read("u1") is None


@pytest.mark.parametrize("part", ["followed_by", "ended", "revision", "form", "token"])
def test_a_file_that_lacks_something_is_not_read(files, ledger, part):
    ledger.apply([Add(make_fact(1), vectors(1))])
    head, arrays = level(ledger, Partition()).keep()
    lacking = Kept({name: value for name, value in head.items() if name != part}, arrays)
    assert files.keep("u1", lacking, files.moment)
    assert (files.read("u1") is None) == (part not in ("form", "token"))  # which `keep` adds
    fewer = {name: one for name, one in arrays.items() if name != "nums"}
    assert files.keep("u1", Kept(head, fewer), files.moment)
    assert files.read("u1") is None


def test_what_was_read_before_a_purge_is_not_written_after_it(files, kept, ledger):
    moment = files.moment
    early = level(ledger, Partition()).keep()
    files.purge()
    assert files.read("u1") is None
    assert not files.keep("u1", early, moment)
    assert not kept.exists()
    assert files.keep("u1", early, files.moment)


def test_a_purge_of_some_users_leaves_the_files_of_others(files, kept, ledger):
    ledger.apply([Add(make_fact(9, user_id="u2"), vectors(9))])
    assert files.keep("u2", level(ledger, Partition(), "u2").keep(), files.moment)
    kept.with_suffix(".new").write_bytes(b"what a kill has left")
    files.purge(["u1", "u3"])
    assert files.read("u1") is None
    assert files.read("u2") is not None
    assert len([*kept.parent.iterdir()]) == 1


def test_a_store_that_is_only_read_writes_and_deletes_no_file(kept, ledger):
    reading = PartitionFiles(kept.parent, ledger, SystemDisk(), reading=True)
    before = kept.read_bytes()
    partition = reading.read("u1")
    assert partition is not None
    assert not reading.keep("u1", partition.keep(), reading.moment)
    reading.purge()
    assert kept.read_bytes() == before


class FullDisk(SystemDisk):
    def write(self, file, data):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_without_room_for_a_file_searches_do_without(tmp_path, ledger):
    full = PartitionFiles(tmp_path / "partitions", ledger, FullDisk())
    index = exact(ledger, full)
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(300)])
    assert len(index.query(unit_vectors(1)[0], user_id="u1", limit=400)) == 300
    index.keep("u1")
    assert list((tmp_path / "partitions").iterdir()) == []
    assert len(index.query(unit_vectors(1)[0], user_id="u1", limit=400)) == 300
    assert index.unkept == set()  # it isn't tried at each search


class KilledError(BaseException):
    """The process ends here."""


class Dying:
    """A disk or a ledger that dies at a call, as seen by what the calls before have left."""

    def __init__(self, inner, calls):
        self._inner = inner
        self._calls = calls

    def __getattr__(self, name):
        held = getattr(self._inner, name)
        if name not in ("open", "write", "close", "replace", "make_directory", "set_meta"):
            return held

        def call(*asked):
            if next(self._calls) == 0:
                if name == "write":
                    self._inner.write(asked[0], asked[1][: len(asked[1]) // 2])
                raise KilledError
            return held(*asked)

        return call


@pytest.mark.parametrize("first", [True, False], ids=["first file", "another file"])
def test_whenever_a_process_is_killed_the_next_reads_what_the_ledger_holds(tmp_path, ledger, first):
    ledger.apply([Add(make_fact(n, content=f"tea {n}"), vectors(n, 1)) for n in range(300)])
    died = 0
    for place in range(100):
        directory = tmp_path / f"partitions-{place}"
        if not first:
            files = PartitionFiles(directory, ledger, SystemDisk())
            assert files.keep("u1", level(ledger, Partition()).keep(), files.moment)
        ledger.apply([Add(make_fact(300 + place), vectors(place))])
        calls = iter(range(place, -1_000, -1))
        files = PartitionFiles(directory, Dying(ledger, calls), Dying(SystemDisk(), calls))
        try:
            files.keep("u1", level(ledger, Partition()).keep(), files.moment)
        except KilledError:
            died += 1
        ledger.apply([Forget(f"fact-{place}", NOW)])
        after = PartitionFiles(directory, ledger, SystemDisk())
        found = exact(ledger, after).query(unit_vectors(1)[0], user_id="u1", limit=999)
        assert found == exact(ledger, None).query(unit_vectors(1)[0], user_id="u1", limit=999)
        after.purge()
        assert list(directory.glob("*")) == []
    assert 20 < died < 100  # at every call, and not at all


class Counting:
    """A ledger that counts the memories read from it."""

    def __init__(self, ledger):
        self._ledger = ledger
        self.read = 0

    def delta(self, *asked):
        delta = self._ledger.delta(*asked)
        self.read += len(delta.rows)
        return delta

    def __getattr__(self, name):
        return getattr(self._ledger, name)


class Behind:
    def __init__(self):
        self.asked = []

    def query(self, vector, *, user_id, limit, filters):
        self.asked.append(user_id)
        return []


def exact(ledger, files, told=None, **options) -> Any:
    lags = (lambda _: None) if told is None else told.append
    options = {"budget_bytes": 10**7, "limit": 5_000, **options}
    behind: Any = Behind()
    return ExactIndex(ledger, behind, files=files, lags=lags, **options)


def test_a_user_is_read_from_the_file_and_only_what_is_new_from_the_ledger(ledger, files):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(300)])
    told: list[str] = []
    index = exact(ledger, files, told)
    wanted = index.query(unit_vectors(1)[0], user_id="u1", limit=400)
    assert told == ["u1"]
    assert index.unkept == {"u1"}
    index.keep("u1")
    assert index.unkept == set()
    ledger.apply([Add(make_fact(300), vectors(300)), Forget("fact-3", NOW)])
    counting = Counting(ledger)
    found = exact(counting, files).query(unit_vectors(1)[0], user_id="u1", limit=400)
    assert counting.read == 1
    assert {one.id for one in found} == {one.id for one in wanted} - {"fact-3"} | {"fact-300"}


def test_dead_rows_are_not_kept(ledger, files):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(300)])
    index = exact(ledger, files)
    index.snapshot("u1")
    ledger.apply([Forget("fact-3", NOW)])
    index.snapshot("u1")
    index.keep("u1")
    partition = files.read("u1")
    assert partition.whole
    assert len(partition) == 299


def test_a_file_that_many_changes_have_outdated_is_replaced(ledger, files):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(300)])
    index = exact(ledger, files)
    index.snapshot("u1")
    index.keep("u1")
    ledger.apply([Update(make_fact(n, confidence=0.5), "x", NOW) for n in range(300)])
    again = exact(ledger, files)
    assert len(again.snapshot("u1")) == 600
    assert again.unkept == {"u1"}
    assert len(again.snapshot("u1")) == 300  # of the ledger alone
    again.keep("u1")
    assert len(exact(ledger, files).snapshot("u1")) == 300


def wide(number: int, first: int = 0) -> list[Add]:
    rows = unit_vectors(number, dimension=384, seed=first)
    return [
        Add(make_fact(one, content=f"tea {one}"), FactVectors(rows[place : place + 1], rows[:0]))
        for place, one in enumerate(range(first, first + number))
    ]


@pytest.mark.parametrize("options", [{"budget_bytes": 600_000}, {"limit": 400}])
def test_a_user_too_large_for_ram_is_searched_in_the_file_once_it_is_there(ledger, files, options):
    ledger.apply(wide(1_000))
    told: list[str] = []
    index = exact(ledger, files, told, **options)
    vector = unit_vectors(1, dimension=384)[0]
    assert index.query(vector, user_id="u1", limit=9) == []
    assert index.behind.asked == told == ["u1"]
    index.keep("u1")
    best = index.query(vector, user_id="u1", limit=2_000)
    assert len(best) == 1_000
    assert best[0].id == "fact-0"
    assert best == exact(ledger, None).query(vector, user_id="u1", limit=2_000)
    assert index.behind.asked == ["u1"]
    for first in range(1_000, 1_600, 100):  # and grows on
        ledger.apply(wide(100, first))
        index.query(vector, user_id="u1", limit=9)
        for user_id in index.unkept:
            index.keep(user_id)
    assert len(index.query(vector, user_id="u1", limit=2_000)) == 1_600
    assert set(index.held) == {"u1"}


def test_a_file_of_many_parts_holds_the_same_as_one_of_one(ledger, files, tmp_path):
    ledger.apply(wide(1_000))
    index = exact(ledger, files, budget_bytes=30_000)  # fewer bytes than a delta takes
    vector = unit_vectors(1, dimension=384)[0]
    index.query(vector, user_id="u1", limit=9)
    index.keep("u1")
    found = files.read("u1")
    assert found is not None
    assert len(found) == found.kept == 1_000
    assert index.query(vector, user_id="u1", limit=2_000) == exact(ledger, None).query(
        vector, user_id="u1", limit=2_000
    )


def test_one_user_is_held_however_much_the_rows_of_the_file_take(ledger, files):
    ledger.apply(wide(1_000))
    ledger.apply([Add(make_fact(n, user_id="u2"), vectors(n)) for n in range(2_000, 2_009)])
    index = exact(ledger, files, budget_bytes=60_000)
    index.snapshot("u1")
    index.keep("u1")
    index.snapshot("u2")
    index.snapshot("u1")
    assert [*index.held] == ["u1"]
    assert index.held["u1"] > 60_000
    index.snapshot("u2")
    assert [*index.held] == ["u2"]


def test_a_user_too_large_even_for_a_file_stays_with_the_index_behind(ledger, files):
    ledger.apply(wide(1_000))
    index = exact(ledger, files, limit=20)
    for _ in range(2):
        index.query(unit_vectors(1, dimension=384)[0], user_id="u1", limit=9)
        for user_id in index.unkept:
            index.keep(user_id)
    assert index.behind.asked == ["u1", "u1"]
    assert index.unkept == set()


def test_few_memories_get_no_file(ledger, files):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(200)])
    index = exact(ledger, files)
    index.snapshot("u1")
    assert index.unkept == set()


def remembering(tmp_path, **options) -> SemanticMemory:
    return SemanticMemory.open(tmp_path / "store", embedder=HashEmbedder(), **options)


def filled(memory: SemanticMemory) -> None:
    texts = [f"the {word} of shelf {n}" for n in range(300) for word in ("paprika",)]
    memory.transfer.add_many([{"content": text} for text in texts], user_id="u1")
    memory.add("keeps saffron in the attic", user_id="u1")
    memory.flush()
    memory.search("saffron", user_id="u1")
    memory.flush()


def test_what_is_forgotten_is_in_no_file_once_it_is_erased(tmp_path):
    with remembering(tmp_path) as memory:
        filled(memory)
        kept = list((tmp_path / "store" / "partitions").iterdir())
        assert any(b"saffron" in path.read_bytes() for path in kept)
        done = memory.forget(query="saffron", user_id="u1", proof=True)
        assert done.proof is not None
        assert not done.proof.found
        left = (tmp_path / "store" / "partitions").iterdir()
        assert not any(b"saffron" in path.read_bytes() for path in left)
        assert len(memory.search("paprika", user_id="u1", k=400)) == 300


def test_a_store_opened_again_finds_the_same(tmp_path):
    with remembering(tmp_path) as memory:
        filled(memory)
        before = [(hit.fact.id, hit.score) for hit in memory.search("paprika 7", user_id="u1")]
    with remembering(tmp_path) as memory:
        after = [(hit.fact.id, hit.score) for hit in memory.search("paprika 7", user_id="u1")]
    assert [one for one, _ in after] == [one for one, _ in before]
    np.testing.assert_allclose([s for _, s in after], [s for _, s in before], rtol=1e-3)


def test_kept_is_a_value_of_arrays_that_later_changes_do_not_reach(ledger):
    ledger.apply([Add(make_fact(1), vectors(1, 1))])
    partition = level(ledger, Partition())
    kept = partition.keep()
    before = {name: [*map(np.copy, pieces)] for name, pieces in kept.arrays.items()}
    ledger.apply([Add(make_fact(n), vectors(n, 1)) for n in range(2, 60)])
    ledger.apply([Forget("fact-1", NOW)])
    level(ledger, partition)
    assert isinstance(kept, Kept)
    for name, pieces in before.items():
        for piece, now in zip(pieces, kept.arrays[name], strict=True):
            np.testing.assert_array_equal(piece, now)
