"""Sessions, jobs, statistics and erasure: the contract of every ledger."""

from datetime import timedelta

import pytest

from semantic_memory.domain.changes import (
    Add,
    Advance,
    Cursor,
    Forget,
    Keyed,
    Mark,
    Redact,
    Touch,
    Update,
)
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Source
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.prompts import PromptMemory, PromptRecord
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger import rules
from tests.conftest import NOW, make_fact
from tests.contract.conftest import vectors


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


def test_sessions_are_known_by_their_cursors(ledger):
    cursors = [
        Cursor("u1", "s2", "stored"),
        Cursor("u1", "s1", "stored"),
        Cursor("u1", "s1", "extracted"),
        Cursor("u2", "s3", "stored"),
    ]
    ledger.apply([Advance(cursor) for cursor in cursors])
    assert ledger.session_ids("u1") == ["s1", "s2"]
    assert ledger.session_ids("u3") == []
    assert {cursor.session_id for cursor in ledger.cursors("stored")} == {"s1", "s2", "s3"}


def test_sessions_are_found_that_extraction_hasnt_come_to(ledger):
    cursors = [
        Cursor("u1", "s1", "stored", position=2),
        Cursor("u1", "s1", "extracted", position=2),
        Cursor("u1", "s2", "stored", position=2),
        Cursor("u1", "s2", "extracted", position=1),
        Cursor("u0", "s3", "stored", position=1),
        Cursor("u0", "s4", "stored"),
        Cursor("u0", "s5", "extracted", position=1),
        Cursor("u0", "s6", "extracted", position=3),
        Cursor("u0", "s6", "stored", position=3),
    ]
    ledger.apply([Advance(cursor) for cursor in cursors])
    assert ledger.unextracted() == [("u0", "s3"), ("u1", "s2")]
    moved = [
        Cursor("u0", "s3", "extracted", position=1),
        Cursor("u1", "s1", "stored", position=4),
        Cursor("u1", "s2", "stored"),
        Cursor("u0", "s6", "extracted"),
    ]
    ledger.apply([Advance(cursor) for cursor in moved])
    assert ledger.unextracted() == [("u0", "s6"), ("u1", "s1")]


def test_what_is_to_be_erased_is_told_of_all_sessions_or_of_one(ledger):
    whole, parts = Redact("u0", "s2"), Redact("u1", "s1", frozenset({"m1", "m2"}))
    ledger.apply([parts, whole])
    assert ledger.redactions() == [whole, parts]
    assert ledger.redactions(SessionKey("u1", "s1")) == [parts]
    assert ledger.redactions(SessionKey("u1", "s2")) == []


def test_small_values_are_found_by_the_beginning_of_their_keys(ledger):
    for key in ("a 1", "a 2", "a", "b 1", "A 1", "a%"):
        ledger.set_meta(key, key.upper())
    assert ledger.metas("a ") == {"a 1": "A 1", "a 2": "A 2"}
    assert ledger.metas("d") == {}


def test_a_session_is_summed_up(ledger):
    early, late = NOW - timedelta(days=2), NOW - timedelta(days=1)
    said = {"category": "conversation", "recorded_at": late}
    first, second = Source(session_id="s1", position=0), Source(session_id="s2", position=0)
    ledger.apply(
        [
            Add(make_fact(1, created_at=early, source=first, **said)),
            Add(make_fact(2, created_at=late, source=first, **said)),
            Add(make_fact(3, created_at=early, source=first)),
            Add(make_fact(4, created_at=NOW, source=second, **said)),
            Add(make_fact(5, created_at=NOW, source=second, **said)),
            Add(make_fact(6, user_id="u2", source=second)),
            Add(make_fact(7)),
            Forget("fact-5", NOW),
        ]
    )
    used = NOW + timedelta(days=1)
    ledger.apply([Touch("fact-3", used_at=used)])
    newest, oldest = ledger.session_infos("u1")
    assert (newest.session_id, newest.messages, newest.by_category) == (
        "s2",
        1,
        {"conversation": 1},
    )
    assert (oldest.session_id, oldest.messages, oldest.by_category) == (
        "s1",
        2,
        {"conversation": 2, "preference": 1},
    )
    assert (oldest.first_at, oldest.last_at) == (early, late)
    assert (oldest.created_at, oldest.last_accessed_at) == (late, used)
    assert ledger.session_infos("nobody") == []


def test_everyone_is_looked_at_whatever_the_marks_say(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2")), Mark("decay", "u1", 9, NOW)])
    assert [user.user_id for user in ledger.pending("decay")] == ["u2"]
    assert [user.user_id for user in ledger.pending("decay", everyone=True)] == ["u1", "u2"]
    assert ledger.pending("decay", "nobody", everyone=True) == []
    ledger.apply([Forget("fact-2", NOW)])
    assert ledger.pending("decay") == []  # nothing of theirs is left


def test_old_runs_make_room(ledger, monkeypatch):
    monkeypatch.setattr(rules, "MOST_RUNS", 3)
    for number in range(5):
        ledger.record_run(JobRun(job="decay", started_at=NOW, seconds=number, users=1))
    assert [run.seconds for run in ledger.runs(10)] == [4.0, 3.0, 2.0]


def test_small_values_are_kept_by_key(ledger):
    assert ledger.meta("a") is None
    ledger.set_meta("a", "1")
    ledger.set_meta("b", "")
    ledger.set_meta("a", "2")
    assert (ledger.meta("a"), ledger.meta("b")) == ("2", "")


def test_dropping_vectors_sets_the_key_with_it(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in (1, 2, 3)])
    ledger.apply([Forget("fact-3", NOW)])
    assert ledger.drop_vectors("embedder", "x") == 2
    assert ledger.meta("embedder") == "x"
    assert ledger.embedded_ids() == set()
    assert [fact.id for fact in ledger.unembedded(9)] == ["fact-1", "fact-2"]


def test_facts_are_tallied_by_category_and_status(ledger):
    ledger.apply(
        [
            Add(make_fact(1)),
            Add(make_fact(2)),
            Add(make_fact(3, status="archived")),
            Add(make_fact(4, category="project", user_id="u2")),
            Forget("fact-2", NOW),
        ]
    )
    own = {"preference/active": 1, "preference/archived": 1, "preference/forgotten": 1}
    assert ledger.tally("u1") == own
    assert ledger.tally() == {**own, "project/active": 1}
    assert ledger.tally("nobody") == {}


def test_a_sound_ledger_has_no_damage(ledger):
    ledger.apply([Add(make_fact(1), vectors(1)), Add(make_fact(2)), Forget("fact-1", NOW)])
    assert ledger.damage() == []


# ---------------------------------------------------------------- erasure

SAID = Source(session_id="s1", message_ids=("m1",), position=0, speaker="Ann")


def forgotten_facts(ledger):
    secret = {"tags": ("a",), "metadata": {"k": "v"}, "references": ("fact-9",)}
    message = make_fact(1, category="conversation", source=SAID, **secret)
    ledger.apply([Add(message, vectors(1)), Keyed("fact-1", frozenset({b"key"}))])
    ledger.apply([Update(message.model_copy(update={"content": "Changed"}), "updated", NOW)])
    ledger.apply([Add(make_fact(2, source=SAID)), Add(make_fact(3, user_id="u2"))])
    ledger.apply([Forget(f"fact-{number}", NOW, "asked to") for number in (1, 2, 3)])


def test_the_forgotten_wait_to_be_erased(ledger):
    forgotten_facts(ledger)
    ledger.apply([Add(make_fact(4))])
    assert set(ledger.forgotten()) == {"fact-1", "fact-2", "fact-3"}
    assert set(ledger.forgotten("u1")) == {"fact-1", "fact-2"}
    assert ledger.sessions_with_forgotten() == [("u1", "s1")]  # of a message, not of a fact
    assert ledger.sessions_with_forgotten("u2") == []


def test_the_forgotten_are_counted_by_session_erased_or_not(ledger):
    forgotten_facts(ledger)
    ledger.apply([Add(make_fact(4, source=SAID))])
    assert ledger.deleted("u1") == {"s1": 2}
    ledger.erase()
    assert ledger.deleted("u1") == {"s1": 2}
    assert ledger.deleted("u2") == {}


def test_erasing_leaves_the_tombstone_only(ledger):
    forgotten_facts(ledger)
    assert ledger.erase("u1") == {"u1": 2}
    assert ledger.forgotten() == ["fact-3"]
    assert ledger.sessions_with_forgotten() == []
    (last,) = ledger.history("fact-1")
    assert (last.version, last.action, last.reason, last.at) == (3, "forgotten", "asked to", NOW)
    fact = last.fact
    assert (fact.id, fact.status, fact.content, fact.tags) == ("fact-1", "forgotten", "", ())
    assert (fact.source, fact.metadata, fact.references) == (Source(), {}, ())
    assert ledger.known(["fact-1"]) == {"fact-1"}
    assert ledger.apply([Add(make_fact(1))]) == 0
    assert ledger.tally("u1") == {"conversation/forgotten": 1, "preference/forgotten": 1}
    assert ledger.erase("u1") == {}
    assert ledger.erase() == {"u2": 1}
    assert ledger.damage() == []


def test_the_latest_records_of_prompts_come_back_as_they_went_in(ledger):
    made = [
        PromptRecord(
            at=NOW + timedelta(seconds=number),
            user_id=f"u{number % 2}",
            tokens=number,
            relevance=0.5,
            memories=(PromptMemory(id="a", reason="core"),),
        )
        for number in range(6)
    ]
    ledger.record_prompts([(one.user_id, one.model_dump_json()) for one in made], 2)
    assert ledger.prompts("u0") == [made[4], made[2]]
    assert ledger.prompts("u1") == [made[5], made[3]]
    ledger.erase_prompts("u0")
    assert ledger.prompts("u0") == []
    assert ledger.prompts("u1") == [made[5], made[3]]
