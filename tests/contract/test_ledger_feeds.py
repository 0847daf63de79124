"""Feeding indexes, partitions and the embedder: the contract of every ledger."""

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from semantic_memory.domain.changes import Add, Cut, Embed, Forget, Touch, Update
from semantic_memory.domain.decay import endurance
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.text import lexical_text, stems
from tests.conftest import NOW, make_fact, unit_vectors
from tests.contract.conftest import vectors


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


def test_a_refused_memory_waits_no_longer_until_all_vectors_are_dropped(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    ledger.apply([Embed("fact-1", "Thing number 1", None)])
    assert [fact.id for fact in ledger.unembedded(5)] == ["fact-2"]
    assert ledger.count_unembedded() == 1
    ledger.drop_vectors("embedder", "x")
    assert ledger.count_unembedded() == 2


def test_what_is_claimed_to_embed_can_be_claimed_again_by_the_same_process(ledger):
    ledger.apply([Add(make_fact(number)) for number in (1, 2, 3)])
    for _ in range(2):
        facts, others = ledger.claim_unembedded(2, 600.0)
        assert ([fact.id for fact in facts], others) == (["fact-1", "fact-2"], False)
    ledger.apply(
        [Embed(f"fact-{number}", f"Thing number {number}", vectors()) for number in (1, 2)]
    )
    assert [fact.id for fact in ledger.claim_unembedded(2, 600.0).facts] == ["fact-3"]
    ledger.apply([Embed("fact-3", "Thing number 3", None)])
    assert ledger.claim_unembedded(2, 600.0) == ([], False)


def test_a_message_that_is_not_recalled_needs_no_vectors(ledger):
    archived = {"status": "archived"}
    ledger.apply([Add(make_fact(1, **archived)), Add(make_fact(2, category="conversation"))])
    ledger.apply([Add(make_fact(3, category="conversation", **archived))])
    assert [fact.id for fact in ledger.unembedded(5)] == ["fact-1", "fact-2"]
    assert ledger.count_unembedded() == 2


def test_a_refusal_of_what_has_vectors_is_ignored(ledger):
    ledger.apply([Add(make_fact(), vectors())])
    assert ledger.apply([Embed("fact-1", "Thing number 1", None)]) == 0
    assert ledger.embedded_ids() == {"fact-1"}


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


def test_a_footprint_counts_texts_and_vectors_of_one_user(ledger):
    ledger.apply([Add(make_fact(n, content="12345"), vectors(n)) for n in (1, 2)])
    ledger.apply([Add(make_fact(3, content="123")), Add(make_fact(4, user_id="u2"))])
    ledger.apply([Forget("fact-2", NOW)])
    assert ledger.footprint("u1") == (2, 5 + 3 + 16 * 4)
    assert ledger.footprint("nobody") == (0, 0)


def drained(ledger, limit=2):
    """Follow the ledger as an index does; return what the index then got and lost."""
    upserted, removed = {}, set()
    while (batch := ledger.outbox(limit)).taken:
        upserted.update({entry.fact.id: entry.fact.confidence for entry in batch.entries})
        removed.update(batch.removed)
        assert ledger.note_indexed(batch.taken, "index", ledger.meta("index"), "state")
    return upserted, removed


def test_the_outbox_gives_what_the_index_lacks_in_its_present_state(ledger):
    ledger.apply([Add(make_fact(number), vectors(number)) for number in range(5)])
    ledger.apply(
        [Add(make_fact(9)), Forget("fact-2", NOW), Update(make_fact(0, confidence=0.1), "x", NOW)]
    )
    assert ledger.count_unindexed() == 5  # fact-9 has no vector yet
    upserted, removed = drained(ledger)
    assert set(upserted) == {"fact-0", "fact-1", "fact-3", "fact-4"}
    assert upserted["fact-0"] == 0.1
    assert removed == {"fact-2"}
    assert (ledger.count_unindexed(), ledger.unindexed(9), ledger.outbox(2).taken) == (0, set(), [])
    assert ledger.outbox(2).changes == 8
    assert ledger.meta("index") == "state"


def test_a_follower_that_reads_between_two_users_commits_misses_nothing(ledger):
    seen: set[str] = set()
    for number in range(20):
        ledger.apply([Add(make_fact(number, user_id=f"u{number % 3}"), vectors(number))])
        if number % 4 == 3:
            seen |= set(drained(ledger)[0])
    assert seen == ledger.embedded_ids()
    assert [ledger.revision(f"u{user}") for user in range(3)] == [7, 7, 6]


def test_followers_miss_nothing_of_writers_of_several_users(ledger):
    facts = [make_fact(number, user_id=f"u{number % 4}") for number in range(120)]
    partitions: dict[str, tuple[int, set[str]]] = {}

    def write(user: int) -> None:
        for fact in facts[user::4]:
            ledger.apply([Add(fact, vectors())])
            ledger.apply([Touch(fact.id, confidence=0.5)])

    def follow() -> dict[str, float]:
        held: dict[str, float] = {}
        while not all(done.done() for done in writing) or ledger.count_unindexed():
            held |= drained(ledger, 3)[0]
            for user in ("u0", "u1", "u2", "u3"):
                since, known = partitions.get(user, (0, set()))
                delta = ledger.delta(user, since, 5)
                partitions[user] = delta.revision, known | {row.trait.id for row in delta.rows}
        return held

    with ThreadPoolExecutor(5) as pool:
        writing = [pool.submit(write, user) for user in range(4)]
        held = pool.submit(follow).result(timeout=300)
    assert held == {fact.id: 0.5 for fact in facts}
    for user, (since, known) in partitions.items():
        known |= {row.trait.id for row in ledger.delta(user, since).rows}
        assert known == {fact.id for fact in facts if fact.user_id == user}
        assert ledger.revision(user) == 60


def test_a_fact_that_changes_while_it_is_being_indexed_is_still_lacking(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    batch = ledger.outbox(9)
    ledger.apply([Touch("fact-1", confidence=0.5)])
    ledger.note_indexed(batch.taken, "index", ledger.meta("index"), "state")
    assert ledger.unindexed(9, "u1") == {"fact-1"}
    batch = ledger.outbox(9)
    assert [entry.fact.confidence for entry in batch.entries] == [0.5]
    ledger.apply([Forget("fact-1", NOW)])
    ledger.note_indexed(batch.taken, "index", ledger.meta("index"), "state")
    assert drained(ledger) == ({}, {"fact-1"})


def test_what_a_follower_wrote_beside_another_is_lacking_again(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    ledger.unindex("index", "begun")
    overtaken = ledger.outbox(1)
    ledger.apply([Forget("fact-1", NOW)])
    assert ledger.note_indexed(ledger.outbox(9).taken, "index", "begun", "further")
    assert ledger.count_unindexed() == 0
    assert not ledger.note_indexed(overtaken.taken, "index", "begun", "less far")
    assert ledger.meta("index") == "further"
    assert ledger.outbox(9).removed == ["fact-1"]


def test_what_an_index_holds_of_a_forgotten_fact_is_removed_erased_or_not(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2, 3)])
    drained(ledger)
    ledger.apply([Forget("fact-1", NOW), Forget("fact-2", NOW)])
    ledger.erase()
    assert drained(ledger) == ({}, {"fact-1", "fact-2"})


def test_a_text_that_waits_for_its_new_vectors_leaves_the_index(ledger):
    ledger.apply([Add(make_fact(), vectors())])
    drained(ledger)
    ledger.apply([Update(make_fact(content="New text"), "updated", NOW)])
    assert drained(ledger) == ({}, {"fact-1"})
    ledger.apply([Embed("fact-1", "New text", vectors())])
    assert set(drained(ledger)[0]) == {"fact-1"}


def test_an_index_that_is_filled_anew_lacks_all_that_it_should_hold(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    ledger.apply([Add(make_fact(3)), Add(make_fact(4, user_id="u2"), vectors(4))])
    drained(ledger)
    ledger.apply([Forget("fact-1", NOW)])
    ledger.unindex("index", "another")
    assert ledger.unindexed(9) == {"fact-2", "fact-4"}
    assert ledger.unindexed(9, "u2") == {"fact-4"}
    assert len(ledger.unindexed(1)) == 1
    assert ledger.meta("index") == "another"
    assert drained(ledger) == ({"fact-2": 1.0, "fact-4": 1.0}, set())


def test_what_an_index_must_and_may_hold_is_known(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2)])
    ledger.apply([Add(make_fact(3))])
    assert ledger.held() == (0, 2)
    drained(ledger)
    assert ledger.held() == (2, 2)
    ledger.apply([Forget("fact-1", NOW)])
    assert ledger.held() == (1, 2)
    drained(ledger)
    assert ledger.held() == (1, 1)


def test_similarities_are_those_of_the_nearest_window(ledger):
    given = vectors(windows=3)
    ledger.apply(
        [Add(make_fact(1), given), Add(make_fact(2)), Add(make_fact(3, user_id="u2"), given)]
    )
    (batch,) = ledger.similarities(given.windows[2], "u1", Filters())
    assert batch[0].id == "fact-1"
    assert batch[0].similarity == pytest.approx(1.0, abs=1e-6)
    assert len(batch) == 1


def test_sentences_are_no_windows_and_memories_keep_their_own(ledger):
    shapes = {1: (1, 0), 2: (3, 2), 3: (2, 0), 4: (1, 4)}  # windows and sentences of each
    given = {number: vectors(number, *shape) for number, shape in shapes.items()}
    ledger.apply([Add(make_fact(number), held) for number, held in given.items()])
    asked = given[4].sentences[0]
    (batch,) = ledger.similarities(asked, "u1", Filters())
    assert dict(batch) == pytest.approx(
        {f"fact-{number}": float((held.windows @ asked).max()) for number, held in given.items()},
        abs=1e-6,
    )


def test_similarities_can_be_asked_of_some_only(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2, 3)])
    ledger.apply([Add(make_fact(4, user_id="u2"), vectors(4))])
    vector, some = unit_vectors(1, seed=3)[0], {"fact-1", "fact-3", "fact-4"}
    found = [m.id for batch in ledger.similarities(vector, "u1", Filters(), some) for m in batch]
    assert sorted(found) == ["fact-1", "fact-3"]
    assert list(ledger.similarities(vector, "u1", Filters(), ())) == []


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


def test_traits_and_neighbours_of_a_user_are_the_users_alone(ledger):
    for number, user_id in enumerate(("u1", "u2")):
        place = Source(session_id="s1", position=number)
        ledger.apply([Add(make_fact(number, user_id=user_id, source=place))])
    both = ["fact-0", "fact-1"]
    assert {row.trait.id for row in ledger.traits(both)} == set(both)
    assert [row.trait.id for row in ledger.traits(both, "u2")] == ["fact-1"]
    assert sorted(ledger.neighbours(both)) == both
    assert ledger.neighbours(both, "u1") == ["fact-0"]
    assert ledger.traits(both, "nobody") == []


def test_a_forgotten_memory_has_no_neighbours_erased_or_not(ledger):
    places = (Source(session_id="s1", position=0), Source(session_id="s1", position=1))
    ledger.apply([Add(make_fact(number, source=place)) for number, place in enumerate(places)])
    ledger.apply([Forget("fact-0", NOW)])
    assert ledger.neighbours(["fact-0"]) == []
    ledger.erase()
    assert ledger.neighbours(["fact-0"]) == []


def test_a_delta_comes_in_portions_in_the_order_of_the_changes(ledger):
    ledger.apply([Add(make_fact(n)) for n in (1, 2, 3)])
    ledger.apply([Touch("fact-1", confidence=0.5)])
    since, portions = 0, []
    while rows := (delta := ledger.delta("u1", since, 1)).rows:
        portions.append([row.trait.id for row in rows])
        since = delta.revision
    assert portions == [["fact-2"], ["fact-3"], ["fact-1"]]
    assert since == ledger.revision("u1")


def test_traits_hold_what_ranking_reads(ledger):
    fact = make_fact(
        tags=("a.b", "c"),
        category="project",
        status=Status.SUPERSEDED,
        confidence=0.7,
        importance=0.3,
        confirmed_at=NOW + timedelta(days=2),
        last_used_at=NOW + timedelta(days=3),
        valid_from=NOW + timedelta(days=1),
        use_count=2,
        agent_id="a",
        source=Source(
            session_id="s1", message_ids=("m1",), position=4, role="assistant", speaker="Ann"
        ),
        corroborations=(Source(session_id="s2", message_ids=("m2", "m3")),),
        follows=("fact-9",),
    )
    message = make_fact(2, category="conversation", valid_to=NOW, expires_at=NOW, tags=("pinned",))
    ledger.apply([Add(fact), Add(message), Add(make_fact(3)), Forget("fact-3", NOW)])
    rows = {row.trait.id: row for row in ledger.traits(["fact-1", "fact-2", "fact-3", "unknown"])}
    assert set(rows) == {"fact-1", "fact-2"}
    trait, _, vectors = rows["fact-1"]
    assert vectors is None
    assert trait[1:] == (
        "fact-1",
        "s1",
        4,
        "assistant",
        "Ann",
        "project",
        "superseded",
        "Thing number 1",
        0.7,
        0.3,
        NOW.timestamp(),
        (NOW + timedelta(days=2)).timestamp(),
        (NOW + timedelta(days=3)).timestamp(),
        (NOW + timedelta(days=1)).timestamp(),
        math.inf,
        math.inf,
        ("a.b", "c"),
        ("s1/m1", "s2/m2", "s2/m3"),
        "a",
        "",
        endurance(2, 1, ()),
        1,
        ("fact-9",),
    )
    other = rows["fact-2"].trait
    assert (other.valid_to, other.endurance) == (NOW.timestamp(), math.inf)
    assert (other.expires_at, other.used_at) == (NOW.timestamp(), -math.inf)
    assert other.num != trait.num


def stems_of(ledger, fact_id: str) -> list[str]:
    (row,) = ledger.traits([fact_id])
    return sorted(row.stems)


def test_stems_are_of_the_date_the_speaker_and_the_text(ledger):
    said = make_fact(
        created_at=datetime(2026, 3, 5, tzinfo=UTC),
        content="Wir wohnten in Kassel, s und s: Kassel",
        source=Source(speaker="Ann"),
    )
    ledger.apply([Add(said)])
    expected = sorted(stems(lexical_text(said.content, "Ann", said.created_at.timestamp())))
    assert {"ann", "wohnt0d", "2026", ""} < set(expected)
    assert expected.count("kassel") == 2
    assert stems_of(ledger, "fact-1") == expected
    ((_, kept, _),) = ledger.delta("u1", 0).rows
    assert sorted(kept) == expected


def test_stems_follow_the_text_and_are_gone_with_it(ledger):
    ledger.apply([Add(make_fact(content="Likes tea")), Add(make_fact(2, content="Likes tea"))])
    ledger.apply([Update(make_fact(content="Grows roses"), "updated", NOW)])
    ledger.apply([Update(make_fact(2, content="Likes tea", confidence=0.3), "updated", NOW)])
    assert {"grow", "rose"} < set(stems_of(ledger, "fact-1"))
    assert "tea" not in stems_of(ledger, "fact-1")
    assert "tea" in stems_of(ledger, "fact-2")
    ledger.apply([Cut("fact-1", "Grows", NOW), Forget("fact-2", NOW)])
    assert "rose" not in stems_of(ledger, "fact-1")
    ledger.erase()
    assert "grow" in stems_of(ledger, "fact-1")
    assert ledger.traits(["fact-2"]) == []
    assert ledger.damage() == []


def test_the_backlog_is_worked_off_from_the_oldest(ledger):
    ledger.apply([Add(make_fact(n)) for n in (3, 1, 2)])
    ledger.apply([Forget("fact-1", NOW)])
    assert [fact.id for fact in ledger.unembedded(1)] == ["fact-3"]
    ledger.apply([Embed("fact-3", "Thing number 3", vectors())])
    assert [fact.id for fact in ledger.unembedded(9)] == ["fact-2"]
    assert ledger.count_unembedded() == 1
    assert ledger.embedded_ids() == {"fact-3"}
