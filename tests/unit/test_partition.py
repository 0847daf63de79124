"""One user's memories in RAM."""

import threading
import tracemalloc

import numpy as np
import pytest

from semantic_memory.domain.changes import Add, Embed, FactVectors, Forget, Update
from semantic_memory.domain.facts import Category, Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.partition import Partition
from semantic_memory.retrieval.snapshot import Snapshot
from tests.conftest import NOW, make_fact, unit_vectors


@pytest.fixture
def ledger(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def vectors(seed: int, sentences: int = 0) -> FactVectors:
    rows = unit_vectors(1 + sentences, seed=seed)
    return FactVectors(rows[:1], rows[1:])


def level(ledger, partition: Partition, terms=()) -> Snapshot:
    partition.apply(ledger.delta("u1", partition.revision))
    return partition.snapshot(Filters(), terms)


def alive(snapshot: Snapshot) -> dict[str, int]:
    return {snapshot.ids[row]: row for row in np.flatnonzero(snapshot.admitted).tolist()}


def test_it_follows_additions_changes_and_deletions(ledger):
    ledger.apply([Add(make_fact(1), vectors(1)), Add(make_fact(2), vectors(2))])
    partition = Partition()
    before = level(ledger, partition)
    assert set(alive(before)) == {"fact-1", "fact-2"}
    ledger.apply(
        [Forget("fact-1", NOW), Add(make_fact(3)), Update(make_fact(2, confidence=0.3), "x", NOW)]
    )
    after = level(ledger, partition)
    assert set(alive(after)) == {"fact-2", "fact-3"}
    assert after.columns["confidence"][alive(after)["fact-2"]] == pytest.approx(0.3)
    assert partition.revision == ledger.revision("u1")


def test_what_is_not_embedded_yet_is_found_by_words_only(ledger):
    ledger.apply([Add(make_fact(1, content="Likes tea"))])
    partition = Partition()
    snapshot = level(ledger, partition, ["tea"])
    assert snapshot.dense(unit_vectors(1)[0]).tolist() == [0.0]
    assert snapshot.lexical[0] > 0
    ledger.apply([Embed("fact-1", "Likes tea", vectors(5))])
    snapshot = level(ledger, partition)
    row = alive(snapshot)["fact-1"]
    assert snapshot.dense(unit_vectors(1, seed=5)[0])[row] == pytest.approx(1.0, abs=1e-6)


def test_the_nearest_sentence_counts_and_the_window_where_there_is_none(ledger):
    ledger.apply([Add(make_fact(1), vectors(1, sentences=3)), Add(make_fact(2), vectors(2))])
    snapshot = level(ledger, Partition())
    wanted = unit_vectors(4, seed=1)[3]
    dense = snapshot.dense(wanted)
    best = snapshot.sentence(wanted, np.ones(2, bool), dense)
    assert best[0] == pytest.approx(1.0, abs=1e-3)
    assert best[1] == dense[1]
    assert snapshot.sentence(wanted, np.zeros(2, bool), dense).tolist() == dense.tolist()


def everything(snapshot: Snapshot) -> list[object]:
    """All that a search may read."""
    rows = list(range(len(snapshot)))
    vector = unit_vectors(1, seed=77)[0]
    dense = snapshot.dense(vector)
    embedded = [row for row in rows if snapshot.columns["embedded"][row]]
    return [
        {name: column.tolist() for name, column in snapshot.columns.arrays.items()},
        snapshot.slots.tolist(),
        snapshot.sessions,
        snapshot.speakers,
        [snapshot.ids[row] for row in rows],
        [snapshot.said_in[row] for row in rows],
        [snapshot.texts[row] for row in rows],
        snapshot.admitted.tolist(),
        snapshot.lexical.tolist(),
        snapshot.outdated().tolist(),
        dense.tolist(),
        snapshot.sentence(vector, np.ones(len(rows), bool), dense).tolist(),
        snapshot.alike(embedded).tolist(),
    ]


def test_a_snapshot_stays_as_it_is_while_the_partition_goes_on(ledger):
    said = {"category": Category.CONVERSATION, "content": "Paid 5 for tea?"}
    source = Source(session_id="s1", position=1, speaker="Ann", message_ids=("m1",))
    drawn = make_fact(2, content="Tea costs 5", source=source, tags=("a",))
    ledger.apply([Add(make_fact(1, source=source, **said), vectors(1, 2)), Add(drawn, vectors(2))])
    partition = Partition()
    snapshot = level(ledger, partition, ["tea"])
    before = everything(snapshot)
    for number in range(3, 60):  # beyond the room that arrays have to spare
        source = Source(session_id="s1", position=number - 3, speaker=f"Bob {number}")
        ledger.apply([Add(make_fact(number, source=source, **said), vectors(number, 2))])
    superseded = drawn.model_copy(update={"status": Status.SUPERSEDED})
    ledger.apply([Update(superseded, "superseded", NOW), Forget("fact-1", NOW)])
    later = level(ledger, partition, ["tea"])
    assert everything(snapshot) == before
    assert everything(later) != before
    assert len(later) > len(snapshot)


def place(number: int, session: str | None, position: int | None, **values):
    return make_fact(number, source=Source(session_id=session, position=position), **values)


def test_slots_know_their_neighbours_in_whatever_order_they_come(ledger):
    conversation = {"category": Category.CONVERSATION}
    facts = [
        place(1, "s1", 1, content="And you?", **conversation),
        place(2, "s1", 3, **conversation),
        place(3, "s1", 2, **conversation),
        place(4, "s2", 2, **conversation),
        place(5, "s1", 2),
        place(6, None, None),
    ]
    ledger.apply([Add(fact) for fact in facts])
    snapshot = level(ledger, Partition())
    assert snapshot.columns["slot"].tolist() == [0, 1, 2, 3, 2, -1]
    assert snapshot.slots["before"].tolist() == [-1, 2, 0, -1]
    assert snapshot.slots["behind"].tolist() == [2, -1, 1, -1]
    assert snapshot.slots["asks"].tolist() == [True, False, False, False]


def test_a_fact_that_carries_a_question_asks_too(ledger):
    carried = "Ana, asked “How many dogs do you have?”: Two"
    facts = [
        make_fact(1, content="How many dogs?", category=Category.CONVERSATION),
        make_fact(2, content=carried),
        make_fact(3, content=carried, category=Category.CONVERSATION),
        make_fact(4, content="Ana has two dogs"),
    ]
    ledger.apply([Add(fact) for fact in facts])
    assert level(ledger, Partition()).columns["asks"].tolist() == [True, True, False, False]


def test_many_deaths_make_it_wasteful(ledger):
    ledger.apply([Add(make_fact(number)) for number in range(200)])
    partition = Partition()
    level(ledger, partition)
    assert not partition.wasteful
    for number in range(200):
        ledger.apply([Update(make_fact(number, confidence=0.5), "x", NOW)])
    snapshot = level(ledger, partition)
    assert partition.wasteful
    assert len(alive(snapshot)) == 200


class Behind:
    def __init__(self):
        self.asked = []

    def query(self, vector, *, user_id, limit, filters):
        self.asked.append(user_id)
        return []


def rows_of(index: ExactIndex, user_id: str) -> int:
    """Return the number of rows of a user's partition, dead ones included."""
    snapshot = index.snapshot(user_id)
    assert snapshot is not None
    return len(snapshot)


def exact(ledger, behind, **options) -> ExactIndex:
    return ExactIndex(ledger, behind, **{"budget_bytes": 10**7, "limit": 1_000, **options})


def test_partitions_used_longest_ago_are_dropped_over_the_budget(ledger):
    for user in range(20):
        ledger.apply(
            [Add(make_fact(100 * user + n, user_id=f"u{user}"), vectors(n)) for n in range(20)]
        )
    index = exact(ledger, Behind(), budget_bytes=150_000)
    for user in [*range(20), 0]:
        assert len(index.query(unit_vectors(1)[0], user_id=f"u{user}", limit=50)) == 20
    assert sum(index.held.values()) <= 150_000
    assert "u0" in index.held
    assert len(index.held) < 20


def test_a_user_who_outgrows_it_is_passed_on(ledger):
    behind = Behind()
    index = exact(ledger, behind, limit=3)
    ledger.apply([Add(make_fact(number), vectors(number)) for number in range(3)])
    assert len(index.query(unit_vectors(1)[0], user_id="u1", limit=9)) == 3
    ledger.apply([Add(make_fact(9), vectors(9))])
    index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    assert index.snapshot("u1") is None
    index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    assert behind.asked == ["u1"]


def test_a_wasteful_partition_is_loaded_afresh(ledger):
    index = exact(ledger, Behind())
    ledger.apply([Add(make_fact(number), vectors(number)) for number in range(200)])
    assert rows_of(index, "u1") == 200
    for number in range(200):
        ledger.apply([Update(make_fact(number, confidence=0.5), "x", NOW)])
    assert rows_of(index, "u1") == 400  # the dead among them
    assert rows_of(index, "u1") == 200


def test_a_user_who_would_take_the_whole_budget_is_passed_on_and_drives_nobody_out(ledger):
    behind = Behind()
    ledger.apply([Add(make_fact(n, user_id="small"), vectors(n)) for n in range(20)])
    ledger.apply(
        [Add(make_fact(100 + n, user_id="u1", content="x" * 5_000), vectors(n)) for n in range(20)]
    )
    index = exact(ledger, behind, budget_bytes=90_000)
    index.query(unit_vectors(1)[0], user_id="small", limit=9)
    held = index.held
    assert held.keys() == {"small"}
    for _ in range(3):
        index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    assert behind.asked == ["u1"] * 3
    assert index.held == held


def test_a_user_who_grows_over_the_budget_is_passed_on(ledger):
    behind = Behind()
    index = exact(ledger, behind, budget_bytes=90_000)
    ledger.apply([Add(make_fact(1), vectors(1))])
    index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    assert behind.asked == []
    ledger.apply([Add(make_fact(n, content="x" * 5_000), vectors(n)) for n in range(2, 22)])
    index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    index.query(unit_vectors(1)[0], user_id="u1", limit=9)
    assert behind.asked == ["u1"]
    assert index.held == {}


def test_asking_about_users_that_do_not_exist_leaves_nothing_behind(ledger):
    ledger.apply([Add(make_fact(1), vectors(1))])
    index = exact(ledger, Behind())
    vector = unit_vectors(1)[0]
    index.query(vector, user_id="u1", limit=9)
    tracemalloc.start()
    for number in range(2_000):
        assert index.query(vector, user_id=f"nobody-{number}", limit=9) == []
        if number == 100:
            before, _ = tracemalloc.get_traced_memory()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 50_000  # 26 bytes a user
    assert index.held.keys() == {"u1"}


def test_a_user_who_comes_into_being_is_found(ledger):
    index = exact(ledger, Behind())
    assert index.query(unit_vectors(1)[0], user_id="u1", limit=9) == []
    ledger.apply([Add(make_fact(1), vectors(1))])
    assert len(index.query(unit_vectors(1)[0], user_id="u1", limit=9)) == 1


def test_a_worn_partition_that_is_dropped_meanwhile_is_made_anew(ledger):
    """Another user may drive the partition out while the ledger measures this one."""
    ledger.apply([Add(make_fact(number), vectors(number)) for number in range(200)])
    ledger.apply([Add(make_fact(1_000 + n, user_id="u2"), vectors(n)) for n in range(20)])
    vector = unit_vectors(1)[0]

    class AskedMeanwhile:
        asked = ""

        def footprint(self, user_id):
            if user_id == "u1" and self.asked:
                index.query(vector, user_id=self.asked, limit=9)
                assert "u1" not in index.held
            return ledger.footprint(user_id)

        def __getattr__(self, name):
            return getattr(ledger, name)

    meanwhile = AskedMeanwhile()
    index = exact(meanwhile, Behind(), budget_bytes=375_000)
    index.snapshot("u1")
    for number in range(200):
        ledger.apply([Update(make_fact(number, confidence=0.5), "x", NOW)])
    assert rows_of(index, "u1") == 400  # and so it is worn
    meanwhile.asked = "u2"
    assert len(index.query(vector, user_id="u1", limit=500)) == 200


def test_threads_that_drive_each_other_out_all_get_their_answers(ledger):
    for user in range(6):
        ledger.apply(
            [Add(make_fact(100 * user + n, user_id=f"u{user}"), vectors(n)) for n in range(20)]
        )
    index = exact(ledger, Behind(), budget_bytes=60_000)
    sizes: list[int] = []

    def ask(start: int) -> None:
        for step in range(60):
            user = f"u{(start + step) % 6}"
            if step % 10 == 0:
                with ledger.exclusive(user):
                    (fact,) = ledger.get([f"fact-{100 * int(user[1]) + step % 20}"])
                    ledger.apply([Update(fact, "x", NOW)])
            sizes.append(len(index.query(unit_vectors(1)[0], user_id=user, limit=50)))

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [20] * 240
    assert sum(index.held.values()) <= 60_000
