"""Committing changes and following them: the contract of every ledger."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from semantic_memory.domain.changes import (
    Add,
    Advance,
    Cursor,
    Embed,
    EraseLines,
    Evict,
    Forget,
    Keyed,
    Mark,
    Retire,
    Touch,
    Update,
    Write,
)
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError, StoreClosedError
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.profile import Line
from semantic_memory.domain.retention import Periods, Unexpired
from tests.conftest import NOW, make_fact, unit_vectors
from tests.contract.conftest import contents, vectors

LINE = Line(
    id="line",
    user_id="u1",
    layer="work_context",
    text="Text.",
    origin="model",
    at=NOW,
    valid_from=NOW,
)


def test_adding_a_known_id_does_nothing(ledger):
    assert ledger.apply([Add(make_fact()), Add(make_fact(content="Other"))]) == 1
    assert ledger.get(["fact-1"])[0].content == "Thing number 1"


def test_all_changes_are_kept_or_none(ledger):
    with pytest.raises(NotFoundError):
        ledger.apply([Add(make_fact()), Forget("unknown", NOW)])
    assert ledger.get(["fact-1"]) == []
    assert ledger.revision("u1") == ledger.outbox(1).changes == 0


def test_an_update_keeps_the_state_before(ledger):
    ledger.apply([Add(make_fact())])
    later = NOW + timedelta(days=1)
    changed = make_fact(content="Thing changed", confidence=0.5)
    ledger.apply([Update(changed, "updated", later, "was wrong")])
    first, second = ledger.history("fact-1")
    assert (first.version, first.action, first.fact.content) == (1, "added", "Thing number 1")
    assert (second.version, second.action, second.reason, second.at) == (
        2,
        "updated",
        "was wrong",
        later,
    )
    assert ledger.get(["fact-1"]) == [second.fact]


def test_an_update_of_another_version_is_refused(ledger):
    ledger.apply([Add(make_fact())])
    ledger.apply([Update(make_fact(confidence=0.5), "updated", NOW)])
    with pytest.raises(ConcurrentUpdateError, match="version 2 by now, not 1: read it again"):
        ledger.apply([Update(make_fact(confidence=0.6), "updated", NOW)])
    assert ledger.get(["fact-1"])[0].confidence == 0.5


def test_a_forgotten_memory_can_not_be_updated(ledger):
    ledger.apply([Add(make_fact()), Forget("fact-1", NOW)])
    with pytest.raises(NotFoundError):
        ledger.apply([Update(make_fact(version=2), "updated", NOW)])
    assert ledger.get(["fact-1"]) == []


def test_a_forgotten_fact_is_gone_from_every_answer_and_stays_gone(ledger):
    ledger.apply([Add(make_fact(), vectors())])
    ledger.apply([Forget("fact-1", NOW, "asked to")])
    ledger.apply([Add(make_fact())])
    assert ledger.get(["fact-1"]) == []
    assert ledger.find("u1", Filters()) == []
    assert ledger.words("u1", ["thing"], limit=5) == []
    assert ledger.same_content("u1", "Thing number 1") is None
    assert ledger.count() == 0
    assert ledger.embedded_ids() == set()
    assert ledger.history("fact-1")[-1].reason == "asked to"
    with pytest.raises(NotFoundError):
        ledger.apply([Forget("fact-1", NOW)])


def test_small_changes_leave_no_version(ledger):
    ledger.apply([Add(make_fact(confidence=0.9), vectors())])
    before = ledger.revision("u1")
    later = NOW + timedelta(days=1)
    ledger.apply([Touch("fact-1", confidence=0.8), Touch("fact-1", used_at=later)])
    ledger.apply([Touch("fact-1", used_at=NOW)])
    (fact,) = ledger.get(["fact-1"])
    assert (fact.confidence, fact.use_count, fact.last_used_at) == (0.8, 2, later)
    assert (fact.version, len(ledger.history("fact-1"))) == (1, 1)
    assert ledger.revision("u1") > before  # so that whoever follows hears of it
    assert ledger.apply([Touch("unknown", confidence=0.1)]) == 0


def test_what_changed_is_known_by_user_and_revision(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    since = ledger.revision("u1")
    ledger.apply([Add(make_fact(3)), Add(make_fact(4, user_id="u2")), Forget("fact-1", NOW)])
    assert ledger.changed("u1", since, 10) == {"fact-1", "fact-3"}
    assert len(ledger.changed("u1", since, 1)) == 1
    ledger.apply([Add(make_fact(5, category="conversation"))])
    assert ledger.changed("u1", since, 10) == {"fact-1", "fact-3"}
    assert ledger.changed("u1", ledger.revision("u1"), 10) == set()


EVERYTHING = (
    Add(make_fact(9)),
    Update(make_fact(1, content="Other text"), "updated", NOW),
    Touch("fact-2", confidence=0.1, used_at=NOW),
    Embed("fact-2", "Thing number 2", vectors(2)),
    Keyed("fact-1", frozenset({b"key"})),
    Forget("fact-3", NOW),
    Write(LINE.model_copy(update={"id": "another", "text": "Other."})),
    Retire("line", NOW),
    EraseLines("u1"),
    Mark("dedup", "u1", 1, NOW),
    Advance(Cursor("u1", "s1", "stored", 9)),
)


@pytest.mark.parametrize("change", EVERYTHING, ids=lambda change: type(change).__name__)
def test_a_change_beside_one_that_fails_leaves_nothing_behind(ledger, change):
    source = Source(session_id="s1", message_ids=("m1",), position=1)
    ledger.apply([Add(make_fact(n, source=source), vectors(n)) for n in (1, 3)])
    ledger.apply([Add(make_fact(2)), Write(LINE)])
    before = contents(ledger)
    with pytest.raises(NotFoundError):
        ledger.apply([change, Forget("unknown", NOW)])
    assert contents(ledger) == before
    ledger.apply([change])
    assert contents(ledger) != before


def test_revisions_count_the_changes_of_each_users_facts_in_their_order(ledger):
    assert ledger.apply([]) == 0
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2")), Add(make_fact(3))])
    assert (ledger.revision("u1"), ledger.revision("u2")) == (2, 1)
    ledger.apply([Touch("fact-2", confidence=0.5), Add(make_fact(3)), Mark("decay", "u1", 2, NOW)])
    assert (ledger.revision("u1"), ledger.revision("u2")) == (2, 2)
    ledger.apply([Embed("fact-1", "Thing number 1", None)])  # nothing that a follower needs
    assert ledger.revision("u1") == 2
    ledger.apply([Forget("fact-1", NOW), Embed("fact-3", "Thing number 3", vectors())])
    assert [row.trait.id for row in ledger.delta("u1", 0).rows] == ["fact-3"]
    assert ledger.delta("u1", 0, limit=1).revision == 3
    assert ledger.delta("u1", 0).revision == ledger.revision("u1") == 4
    assert ledger.revision("nobody") == 0
    assert ledger.outbox(1).changes == 6


def test_a_mark_without_a_revision_is_at_the_latest_change_before_it(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2"))])
    ledger.apply([Mark("dedup", "u1", 0, NOW), Mark("dedup", "nobody", None, NOW)])
    ledger.apply(
        [
            Touch("fact-1", confidence=0.5),
            Touch("unknown", confidence=0.5),
            Touch("fact-2", confidence=0.5),
            Mark("dedup", "u1", None, NOW),
            Add(make_fact(3, user_id="u2")),
        ]
    )
    assert ledger.pending("dedup", "u1") == []
    (user,) = ledger.pending("dedup", "u1", everyone=True)
    assert (user.revision, user.seen) == (2, 2)
    ledger.apply([Mark("dedup", "u1", None, NOW), Touch("fact-1", confidence=0.6)])
    (user,) = ledger.pending("dedup", "u1")
    assert (user.revision, user.seen) == (3, 2)


def test_a_use_moves_the_last_time_only_forwards(ledger):
    later = NOW + timedelta(hours=1)
    ledger.apply([Add(make_fact()), Touch("fact-1", used_at=later), Touch("fact-1", used_at=NOW)])
    (fact,) = ledger.get(["fact-1"])
    assert (fact.last_used_at, fact.use_count, fact.confidence) == (later, 2, 1.0)
    ledger.apply([Forget("fact-1", NOW)])
    assert ledger.apply([Touch("fact-1", used_at=NOW), Keyed("fact-1", frozenset())]) == 0


def test_changes_of_one_batch_build_on_each_other(ledger):
    second = make_fact(confidence=0.4)
    third = make_fact(confidence=0.3, version=2)
    ledger.apply([Add(make_fact()), Update(second, "a", NOW), Update(third, "b", NOW)])
    assert [one.action for one in ledger.history("fact-1")] == ["added", "a", "b"]
    assert ledger.get(["fact-1"])[0].version == 3


# ---------------------------------------------------------------- several threads


def test_an_exclusive_writer_keeps_others_out_and_is_told_of(ledger, events):
    ledger.apply([Add(make_fact(1))])
    assert events == []
    with ThreadPoolExecutor(1) as other:
        with ledger.exclusive("u1"), ledger.exclusive("u1"):
            waiting = other.submit(ledger.apply, [Add(make_fact(2))])
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.05)
            ledger.apply([Add(make_fact(3))])
        assert waiting.result() == 1
    (event,) = events
    assert event.lock == "ledger"
    assert event.seconds > 0
    assert ledger.revision("u1") == 3


def test_readers_do_not_wait_for_an_exclusive_writer(ledger):
    ledger.apply([Add(make_fact(1))])
    with ThreadPoolExecutor(1) as other, ledger.exclusive("u1"):
        assert other.submit(ledger.count).result(timeout=120) == 1
        assert len(other.submit(ledger.get, ["fact-1"]).result(timeout=120)) == 1


def test_a_reading_under_way_sees_nothing_of_a_later_write(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(2_500)])
    reading = ledger.similarities(unit_vectors(1)[0], "u1", Filters())
    found = [match.id for match in next(reading)]
    ledger.apply([Forget(f"fact-{n}", NOW) for n in range(2_500)])
    found += [match.id for batch in reading for match in batch]
    assert sorted(found) == sorted(f"fact-{n}" for n in range(2_500))
    assert list(ledger.similarities(unit_vectors(1)[0], "u1", Filters())) == []


def test_threads_share_it(ledger):
    def work(number: int) -> int:
        ledger.apply([Add(make_fact(number, user_id=f"u{number % 5}"))])
        return len(ledger.find(f"u{number % 5}", Filters()))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert ledger.count() == 200
    assert [ledger.revision(f"u{user}") for user in range(5)] == [40] * 5


def test_using_it_after_closing_is_said(ledger):
    ledger.close()
    with pytest.raises(StoreClosedError):
        ledger.count()
    with pytest.raises(StoreClosedError):
        ledger.apply([Add(make_fact())])
    with pytest.raises(StoreClosedError):
        ledger.set_meta("key", "value")


def test_eviction_archives_the_least_confident_then_the_oldest(ledger):
    day = timedelta(days=1)
    facts = [
        make_fact(1, confidence=0.9),
        make_fact(2, confidence=0.5, created_at=NOW + day),
        make_fact(3, confidence=0.5, confirmed_at=NOW + 2 * day),
        make_fact(4, confidence=0.5, created_at=NOW + day),
        make_fact(5, confidence=0.1, tags=("pinned",)),
        make_fact(6, confidence=0.1, category="conversation"),
        make_fact(7, confidence=0.1, status="superseded"),
        make_fact(8, confidence=0.1, user_id="u2"),
    ]
    ledger.apply([*map(Add, facts), Evict("u1", 5, NOW)])
    assert ledger.find("u1", Filters(), status=Status.ARCHIVED) == []
    assert ledger.apply([Evict("u1", 3, NOW, sparing="fact-2")]) == 0
    archived = ledger.find("u1", Filters(), status=Status.ARCHIVED)
    assert [fact.id for fact in archived] == ["fact-4", "fact-3"]
    last = ledger.history("fact-4")[-1]
    assert (last.action, last.reason, last.at) == ("archived", "over the cap of 3 facts", NOW)
    ledger.apply([Evict("u1", 0, NOW)])
    left = ledger.find("u1", Filters())
    assert {fact.id for fact in left} == {"fact-5", "fact-6"}


def test_an_eviction_is_undone_with_the_rest_of_its_transaction(ledger):
    ledger.apply([Add(make_fact())])
    with pytest.raises(NotFoundError):
        ledger.apply([Evict("u1", 0, NOW), Forget("unknown", NOW)])
    assert ledger.get(["fact-1"])[0].status is Status.ACTIVE


def test_expired_facts_of_any_status_are_found_in_the_order_written(ledger):
    condition = Unexpired(NOW, Periods(tags={"a": timedelta(days=1)}))
    ledger.apply(
        [
            Add(make_fact(2, expires_at=NOW)),
            Add(make_fact(1, expires_at=NOW - timedelta(days=1), status="archived")),
            Add(make_fact(3, tags=("a.b",), created_at=NOW - timedelta(days=1))),
            Add(make_fact(4, expires_at=NOW, tags=("pinned",))),
            Add(make_fact(5, expires_at=NOW + timedelta(seconds=1))),
            Add(make_fact(6, expires_at=NOW, user_id="u2")),
            Add(make_fact(7, expires_at=NOW)),
            Forget("fact-7", NOW),
        ]
    )
    found = ledger.expired("u1", condition)
    assert [fact.id for fact in found] == ["fact-2", "fact-1", "fact-3"]
    assert found[0].expires_at == NOW
    assert ledger.expired("u1", condition, limit=1) == found[:1]


def test_of_equal_facts_the_one_that_expires_last_stands(ledger):
    ledger.apply([Add(make_fact(1, content="Tea", expires_at=NOW))])
    assert ledger.same_content("u1", "tea").id == "fact-1"
    ledger.apply([Add(make_fact(2, content="Tea", expires_at=NOW + timedelta(days=1)))])
    assert ledger.same_content("u1", "tea").id == "fact-2"
    ledger.apply([Add(make_fact(3, content="Tea")), Add(make_fact(4, content="Tea"))])
    assert ledger.same_content("u1", "tea").id == "fact-3"
