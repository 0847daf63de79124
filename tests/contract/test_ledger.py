"""Contract of every ledger."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from semantic_memory.domain.changes import (
    Add,
    Advance,
    Cursor,
    Embed,
    FactVectors,
    Forget,
    Keyed,
    Mark,
    Touch,
    Update,
)
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.conftest import NOW, make_fact, unit_vectors


@pytest.fixture(params=["sqlite"])
def ledger(request, tmp_path: Path):
    ledger: Ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def vectors(seed: int = 0, windows: int = 1, sentences: int = 0) -> FactVectors:
    both = unit_vectors(windows + sentences, seed=seed)
    return FactVectors(both[:windows], both[windows:])


def test_a_fact_comes_back_as_it_went_in(ledger):
    fact = make_fact(
        tags=("a.b", "c"),
        references=("fact-9",),
        metadata={"n": 1, "t": "ü\n"},
        source=Source(
            extractor="x", session_id="s", message_ids=("m1", "m2"), position=3, role="user"
        ),
        corroborations=(Source(session_id="t", message_ids=("m3",)),),
        valid_to=NOW + timedelta(microseconds=1),
        superseded_by="fact-2",
        last_used_at=NOW,
        use_count=2,
    )
    ledger.apply([Add(fact)])
    assert ledger.get([fact.id]) == [fact]


def test_facts_are_given_in_the_order_asked_for(ledger):
    ledger.apply([Add(make_fact(number)) for number in range(1200)])
    wanted = [f"fact-{number}" for number in range(1199, -1, -7)]
    assert [fact.id for fact in ledger.get([*wanted, "unknown"])] == wanted


def test_adding_a_known_id_does_nothing(ledger):
    assert ledger.apply([Add(make_fact()), Add(make_fact(content="Other"))]) == 1
    assert ledger.get(["fact-1"])[0].content == "Thing number 1"


def test_all_changes_are_kept_or_none(ledger):
    with pytest.raises(NotFoundError):
        ledger.apply([Add(make_fact()), Forget("unknown", NOW)])
    assert ledger.get(["fact-1"]) == []
    assert ledger.revision() == ledger.revision("u1") == 0


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


def test_words_find_inflections_and_only_the_users_own(ledger):
    ledger.apply(
        [
            Add(make_fact(1, content="Painted a sunrise")),
            Add(make_fact(2, user_id="u2", content="Paints walls")),
        ]
    )
    assert [match.id for match in ledger.words("u1", ["painting"], limit=5)] == ["fact-1"]
    assert [match.id for match in ledger.words("u2", ["painting"], limit=5)] == ["fact-2"]


@pytest.mark.parametrize("term", ['"', "a OR b", "NEAR(", "*", "text:x", "ü"])
def test_any_word_can_be_asked_for(ledger, term):
    ledger.apply([Add(make_fact())])
    assert ledger.words("u1", [term], limit=5) == []


def test_words_follow_an_update(ledger):
    ledger.apply([Add(make_fact(content="Lives in Oslo"))])
    ledger.apply([Update(make_fact(content="Lives in Berlin"), "updated", NOW)])
    assert ledger.words("u1", ["oslo"], limit=5) == []
    assert len(ledger.words("u1", ["berlin"], limit=5)) == 1


def test_the_same_content_is_found_in_any_spelling(ledger):
    ledger.apply([Add(make_fact(content="Likes  tea."))])
    assert ledger.same_content("u1", "likes TEA").id == "fact-1"
    assert ledger.same_content("u2", "likes TEA") is None


FILTERS = [
    Filters(),
    Filters(categories={"project"}),
    Filters(categories=set()),
    Filters(tags=("a",)),
    Filters(tags=("a.b", "c")),
    Filters(tags=("a_b",)),
    Filters(since=NOW + timedelta(days=2)),
    Filters(until=NOW + timedelta(days=2)),
    Filters(min_confidence=0.5),
    Filters(session_id="s1"),
    Filters(as_of=NOW),
    Filters(as_of=NOW + timedelta(days=5)),
]


def varied_facts():
    tags = [(), ("a",), ("a.b",), ("a.b", "c"), ("ab",), ("axb",)]
    return [
        make_fact(
            number,
            category=["preference", "project"][number % 2],
            tags=tags[number % 6],
            created_at=NOW + timedelta(days=number % 4),
            valid_from=NOW + timedelta(days=number % 4),
            confidence=number / 24,
            status=list(Status)[number % 4],
            valid_to=NOW + timedelta(days=4) if number % 4 == 1 else None,
            source=Source(session_id=f"s{number % 3}"),
        )
        for number in range(24)
    ]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_say_what_their_reference_says(ledger, filters):
    facts = varied_facts()
    ledger.apply([Add(fact) for fact in facts])
    expected = {fact.id for fact in facts if filters.admits(fact)}
    assert {fact.id for fact in ledger.find("u1", filters)} == expected
    found = ledger.words("u1", ["thing"], limit=100, filters=filters)
    assert {match.id for match in found} == expected


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.ACTIVE], ids=str)
def test_facts_are_found_by_their_status_too(ledger, status):
    facts = varied_facts()
    ledger.apply([Add(fact) for fact in facts])
    filters = Filters(tags=("a",), min_confidence=0.2)
    expected = {
        fact.id
        for fact in facts
        if fact.status is status
        and filters.admits(fact.model_copy(update={"status": Status.ACTIVE}))
    }
    assert {fact.id for fact in ledger.find("u1", filters, status=status)} == expected


def test_what_a_fact_replaced_is_found_oldest_first(ledger):
    old = {"superseded_by": "fact-1", "status": Status.SUPERSEDED}
    ledger.apply(
        [
            Add(make_fact(1)),
            Add(make_fact(2, **old)),
            Add(make_fact(3, **old, created_at=NOW - timedelta(days=1))),
            Add(make_fact(4, superseded_by="fact-1", status=Status.ARCHIVED)),
            Add(make_fact(5, superseded_by="fact-2", status=Status.SUPERSEDED)),
            Add(make_fact(6, **old, user_id="u2")),
            Add(make_fact(7, **old)),
            Forget("fact-7", NOW),
        ]
    )
    assert [fact.id for fact in ledger.replaced("fact-1", "u1")] == ["fact-3", "fact-2", "fact-4"]
    assert ledger.replaced("fact-3", "u1") == []


def test_pages_follow_each_other_without_gap_or_overlap(ledger):
    ledger.apply([Add(fact) for fact in varied_facts()])
    everything = [fact.id for fact in ledger.find("u1", Filters())]
    pages, after = [], None
    while page := ledger.find("u1", Filters(), limit=2, after=after):
        pages += [fact.id for fact in page]
        after = page[-1].id
    assert pages == everything
    with pytest.raises(NotFoundError):
        ledger.find("u1", Filters(), after="unknown")


def test_vectors_come_back_as_they_went_in(ledger):
    given = vectors(windows=2, sentences=3)
    ledger.apply([Add(make_fact(), given)])
    (row,) = ledger.traits(["fact-1"])
    assert np.array_equal(row.vectors.windows, given.windows)
    assert np.array_equal(row.vectors.sentences, given.sentences)


def test_vectors_of_a_text_that_has_changed_are_refused(ledger):
    ledger.apply([Add(make_fact())])
    ledger.apply([Update(make_fact(content="New text"), "updated", NOW)])
    assert ledger.apply([Embed("fact-1", "Thing number 1", vectors())]) == 0
    assert ledger.apply([Embed("fact-1", "New text", vectors())]) == 1
    assert ledger.unembedded(5) == []


def test_changed_content_loses_its_vectors_and_other_changes_keep_them(ledger):
    ledger.apply([Add(make_fact(), vectors())])
    ledger.apply([Update(make_fact(confidence=0.4), "updated", NOW)])
    assert ledger.unembedded(5) == []
    ledger.apply([Update(make_fact(content="New text", version=2), "updated", NOW)])
    assert [fact.id for fact in ledger.unembedded(5)] == ["fact-1"]


def test_a_delta_holds_what_changed_since(ledger):
    ledger.apply([Add(make_fact(1), vectors()), Add(make_fact(2)), Add(make_fact(3, user_id="u2"))])
    first = ledger.delta("u1", 0)
    assert [row.trait.id for row in first.rows] == ["fact-1", "fact-2"]
    assert [row.vectors is None for row in first.rows] == [False, True]
    assert first.revision == ledger.revision("u1")
    ledger.apply([Embed("fact-2", "Thing number 2", vectors()), Forget("fact-1", NOW)])
    second = ledger.delta("u1", first.revision)
    assert [row.trait.id for row in second.rows] == ["fact-2"]
    assert second.removed == [first.rows[0].trait.num]
    assert ledger.delta("u1", second.revision).rows == []


def test_the_outbox_gives_changes_in_order_and_each_once(ledger):
    ledger.apply([Add(make_fact(number), vectors(number)) for number in range(5)])
    ledger.apply(
        [Add(make_fact(9)), Forget("fact-2", NOW), Update(make_fact(0, confidence=0.1), "x", NOW)]
    )
    position, upserted, removed = 0, {}, set()
    while (batch := ledger.outbox(position, 2)).revision > position:
        upserted.update({entry.fact.id: entry.fact.confidence for entry in batch.entries})
        removed.update(batch.removed)
        position = batch.revision
    assert set(upserted) == {"fact-0", "fact-1", "fact-3", "fact-4"}  # fact-9 has no vector yet
    assert upserted["fact-0"] == 0.1
    assert removed == {"fact-2"}
    assert ledger.outbox(position, 2).revision == ledger.revision()


def test_neighbours_are_one_place_away_in_the_same_session(ledger):
    places = [("s1", 0), ("s1", 1), ("s1", 2), ("s2", 1), (None, None)]
    ledger.apply(
        [
            Add(make_fact(number, source=Source(session_id=session, position=position)))
            for number, (session, position) in enumerate(places)
        ]
    )
    assert sorted(ledger.neighbours(["fact-0"])) == ["fact-0", "fact-1"]
    assert sorted(ledger.neighbours(["fact-1"])) == ["fact-0", "fact-1", "fact-2"]
    assert ledger.neighbours(["fact-4"]) == []


def test_a_cursor_moves_with_what_was_made(ledger):
    assert ledger.cursor("u1", "s1", "stored") == Cursor("u1", "s1", "stored")
    moved = Cursor("u1", "s1", "stored", 3, 120, "m3")
    with pytest.raises(NotFoundError):
        ledger.apply([Advance(moved), Forget("unknown", NOW)])
    assert ledger.cursor("u1", "s1", "stored").position == 0
    ledger.apply([Advance(moved)])
    assert ledger.cursor("u1", "s1", "stored") == moved
    assert ledger.cursors("stored") == [moved]
    assert ledger.cursors("extracted") == []


def test_everything_is_there_after_reopening(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger(path)
    ledger.apply([Add(make_fact(), vectors())])
    ledger.set_meta("key", "value")
    ledger.close()
    again = SqliteLedger(path)
    assert again.get(["fact-1"]) == [make_fact()]
    assert again.revision() == again.revision("u1") == 1
    assert again.meta("key") == "value"
    assert again.users() == ["u1"]
    assert again.damage() == []
    again.close()


def test_similarities_are_those_of_the_nearest_window(ledger):
    given = vectors(windows=3)
    ledger.apply(
        [Add(make_fact(1), given), Add(make_fact(2)), Add(make_fact(3, user_id="u2"), given)]
    )
    (batch,) = ledger.similarities(given.windows[2], "u1", Filters())
    assert batch[0].id == "fact-1"
    assert batch[0].similarity == pytest.approx(1.0, abs=1e-6)
    assert len(batch) == 1


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


def test_another_users_memory_is_not_found(ledger):
    ledger.apply([Add(make_fact())])
    assert [fact.id for fact in ledger.get(["fact-1"], "u1")] == ["fact-1"]
    assert ledger.get(["fact-1"], "u2") == []
    assert len(ledger.history("fact-1", "u1")) == 1
    with pytest.raises(NotFoundError):
        ledger.history("fact-1", "u2")


def test_ids_once_written_stay_known(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2)), Forget("fact-1", NOW)])
    assert ledger.known(["fact-1", "fact-2", "fact-3"]) == {"fact-1", "fact-2"}


def test_users_and_counts_leave_the_forgotten_out(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2")), Add(make_fact(3))])
    ledger.apply([Forget("fact-2", NOW), Forget("fact-1", NOW)])
    assert ledger.users() == ["u1"]
    assert (ledger.count(), ledger.count("u1"), ledger.count("u2"), ledger.count("u3")) == (
        1,
        1,
        0,
        0,
    )


def test_a_refused_memory_waits_no_longer_until_all_vectors_are_dropped(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    ledger.apply([Embed("fact-1", "Thing number 1", None)])
    assert [fact.id for fact in ledger.unembedded(5)] == ["fact-2"]
    assert ledger.count_unembedded() == 1
    ledger.drop_vectors("embedder", "x")
    assert ledger.count_unembedded() == 2


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


def test_beliefs_are_active_facts_with_vectors(ledger):
    ledger.apply(
        [
            Add(make_fact(1), vectors(1)),
            Add(make_fact(2)),
            Add(make_fact(3, category="conversation"), vectors(3)),
            Add(make_fact(4, status=Status.SUPERSEDED), vectors(4)),
            Add(make_fact(5, user_id="u2"), vectors(5)),
        ]
    )
    (belief,) = ledger.beliefs("u1")
    assert belief.fact == make_fact(1)
    assert np.array_equal(belief.vector, vectors(1).windows[0])
    assert belief.revision == 1


def test_beliefs_are_found_by_what_changed_by_id_and_by_key(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(1, 6)])
    ledger.apply([Add(make_fact(6, user_id="u2"), vectors(6))])
    for number, keys in ((1, {b"a"}), (2, {b"a", b"b"}), (3, {b"c"}), (5, {b"b"}), (6, {b"b"})):
        ledger.apply([Keyed(f"fact-{number}", frozenset(keys))])
    ledger.apply([Keyed("fact-5", frozenset({b"d"})), Keyed("unknown", frozenset({b"b"}))])

    def ids(beliefs):
        return sorted(belief.fact.id for belief in beliefs)

    assert ids(ledger.beliefs("u1", since=3)) == ["fact-4", "fact-5"]
    assert len(ledger.beliefs("u1", limit=2)) == 2
    assert ids(ledger.beliefs_among("u1", [], [b"b"])) == ["fact-2"]
    assert ids(ledger.beliefs_among("u1", ["fact-3", "fact-6"], [b"a", b"d"])) == [
        f"fact-{number}" for number in (1, 2, 3, 5)
    ]
    ledger.apply([Forget("fact-1", NOW)])
    ledger.apply([Update(make_fact(2, status=Status.SUPERSEDED), "superseded", NOW)])
    assert ledger.beliefs_among("u1", [], [b"a"]) == []


def test_a_job_is_told_who_changed_since_it_last_looked(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2"))])
    assert [(user.user_id, user.seen) for user in ledger.pending("dedup")] == [("u1", 0), ("u2", 0)]
    first = ledger.pending("dedup")[0]
    ledger.apply([Mark("dedup", "u1", first.revision, NOW)])
    assert [user.user_id for user in ledger.pending("dedup")] == ["u2"]
    assert ledger.pending("dedup", "u1") == []
    assert len(ledger.pending("decay")) == 2
    ledger.apply([Touch("fact-1", confidence=0.5)])
    (again,) = ledger.pending("dedup", "u1")
    assert (again.seen, again.seen_at) == (first.revision, NOW)
    assert again.revision > first.revision


def test_runs_of_jobs_are_kept(ledger):
    for number in range(3):
        ledger.record_run(
            JobRun(job="decay", started_at=NOW, seconds=number, users=1, counts={"faded": 2})
        )
    assert [run.seconds for run in ledger.runs(2)] == [2.0, 1.0]


def test_document_frequencies_count_stemmed_words_and_are_shared_out_among_users(ledger):
    texts = ["Painting", "painted walls", "A wall", "Tea"]
    ledger.apply([Add(make_fact(n, content=text)) for n, text in enumerate(texts)])
    terms = ["paint", "wall", "zebra"]
    assert ledger.document_frequencies("u1", terms) == (4, {"paint": 2.0, "wall": 2.0})
    ledger.apply([Add(make_fact(n, content="Walls", user_id="u2")) for n in range(10, 14)])
    assert ledger.document_frequencies("u1", terms) == (4, {"paint": 1.0, "wall": 3.0})
    assert ledger.document_frequencies("nobody", terms) == (0, {"paint": 0.0, "wall": 0.0})


def test_what_changed_is_known_by_user_and_revision(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    since = ledger.revision("u1")
    ledger.apply([Add(make_fact(3)), Add(make_fact(4, user_id="u2")), Forget("fact-1", NOW)])
    assert ledger.changed("u1", since, 10) == {"fact-1", "fact-3"}
    assert len(ledger.changed("u1", since, 1)) == 1
    ledger.apply([Add(make_fact(5, category="conversation"))])
    assert ledger.changed("u1", since, 10, messages=False) == {"fact-1", "fact-3"}
    assert ledger.changed("u1", ledger.revision("u1"), 10) == set()


def test_similarities_can_be_asked_of_what_changed_only(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    since = ledger.revision("u1")
    ledger.apply([Add(make_fact(3), vectors(3))])
    ledger.apply([Update(make_fact(1, confidence=0.1), "updated", NOW)])
    vector = unit_vectors(1, seed=3)[0]
    found = [m.id for batch in ledger.similarities(vector, "u1", Filters(), since) for m in batch]
    assert sorted(found) == ["fact-1", "fact-3"]


def test_what_an_index_must_and_may_hold_is_known_for_any_revision(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    ledger.apply([Add(make_fact(3))])
    since = ledger.revision()
    assert ledger.held_at(since) == (2, 2)
    ledger.apply([Forget("fact-1", NOW)])
    assert ledger.held_at(since) == (1, 2)
    assert ledger.held_at(ledger.revision()) == (1, 1)
    assert ledger.held_at(0) == (0, 3)


def test_a_footprint_counts_texts_and_vectors_of_one_user(ledger):
    ledger.apply([Add(make_fact(n, content="12345"), vectors(n)) for n in (1, 2)])
    ledger.apply([Add(make_fact(3, content="123")), Add(make_fact(4, user_id="u2"))])
    ledger.apply([Forget("fact-2", NOW)])
    assert ledger.footprint("u1") == (2, 5 + 3 + 16 * 4)
    assert ledger.footprint("nobody") == (0, 0)
