"""Duplicates, conflicts, fading and erasing, on a whole store without model and Chroma."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from semantic_memory import Status
from semantic_memory.application.jobs.scheduler import Scheduler
from semantic_memory.consolidation.fading import retention
from semantic_memory.consolidation.resolver import BOTH, Resolver
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import BeliefsResolved, JobFinished
from semantic_memory.domain.extraction import Candidate
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from semantic_memory.testing import ScriptedExtractor
from tests.conftest import eventually, say
from tests.support.inside import inside
from tests.support.judges import OVER, READ, plain_pair_judge

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}
UNATTENDED = Settings(ingest=IngestSettings(background=False))
"""Nothing is settled by itself: as if written while nobody looked."""


def contents(memory, user="u1"):
    return sorted(
        fact.content
        for fact in memory.list(user_id=user, limit=None)
        if fact.category != "conversation"
    )


def status(memory, fact):
    return memory.get(fact.id).status


# ---------------------------------------------------------------- duplicates


def test_the_same_in_other_words_is_merged_as_it_is_written(memory, clock, events):
    first = memory.add("I use PostgreSQL for the billing database", **U, confidence=0.8)
    clock.advance(days=1)
    memory.add("For the billing database I use PostgreSQL", **U, tags=["db"], confidence=0.9)
    memory.flush()
    (kept,) = [fact for fact in memory.list(**U) if fact.status is Status.ACTIVE]
    assert kept.created_at == first.created_at
    assert kept.confidence >= 0.9
    assert kept.tags == ("db",)
    assert [event.counts for event in events if isinstance(event, BeliefsResolved)] == [
        {"merged": 1}
    ]


def test_users_never_touch_each_other(memory):
    for user in ("u1", "u2"):
        memory.add("Lives in Bergen", user_id=user)
    memory.flush()
    memory.jobs.run()
    assert contents(memory, "u1") == contents(memory, "u2") == ["Lives in Bergen"]


def test_a_merge_is_undone_and_stays_undone(memory, clock):
    memory.add("I use PostgreSQL for the billing database", **U)
    clock.advance(days=1)
    other = memory.add("For the billing database I use PostgreSQL", **U)
    memory.flush()
    assert len(contents(memory)) == 1
    memory.history.restore(other.id, reason="they are two databases")
    memory.flush()
    memory.jobs.run()
    assert len(contents(memory)) == 2


def said_in(memory, fact):
    return sorted(memory.get(fact.id).message_ids)


def stating():
    """An extractor that yields a fact for every message."""
    return ScriptedExtractor(
        lambda said: [
            Candidate(
                content=message.content,
                category="technical",
                confidence=0.8,
                message_ids=(message.id,),
                tags=(message.id,),
            )
            for message in said
        ]
    )


BILLING = "I use PostgreSQL for the billing database"
BILLING_AGAIN = "For the billing database I use PostgreSQL"
BILLING_ANEW = "I do use PostgreSQL for the billing database"


def tell(memory, clock, content, number):
    memory.observe(say(content, start=number), **S)
    memory.flush()
    clock.advance(days=1)


def facts_of(memory):
    return [fact for fact in memory.list(**U, limit=None) if fact.category != "conversation"]


def by_content(memory, content):
    """Return the fact with that content, whatever its status."""
    ids = inside(memory).ledger.ids("u1")
    (found,) = [
        fact
        for fact in map(memory.get, ids)
        if fact.content == content and fact.category != "conversation"
    ]
    return found


def test_undoing_a_merge_takes_back_what_it_had_given(open_memory, clock):
    memory = open_memory(extractor=stating())
    tell(memory, clock, BILLING, 1)
    before = by_content(memory, BILLING)
    tell(memory, clock, BILLING_AGAIN, 2)
    (kept,) = facts_of(memory)
    assert set(kept.message_ids) == {"m1", "m2"}
    assert (kept.confidence, kept.tags) == (pytest.approx(0.82), ("m1", "m2"))
    memory.history.restore(by_content(memory, BILLING_AGAIN).id)
    memory.flush()
    kept = by_content(memory, BILLING)
    assert (kept.message_ids, kept.tags) == (("m1",), ("m1",))
    assert kept.confidence == pytest.approx(0.8)
    assert (kept.created_at, kept.confirmed_at) == (before.created_at, before.confirmed_at)
    assert memory.history.versions(kept.id)[-1].action == "told apart"


def test_undoing_one_merge_of_three_leaves_the_others(open_memory, clock):
    memory = open_memory(extractor=stating())
    for number, content in enumerate((BILLING, BILLING_AGAIN, BILLING_ANEW), start=1):
        tell(memory, clock, content, number)
    (kept,) = facts_of(memory)
    memory.history.restore(by_content(memory, BILLING_AGAIN).id)
    memory.flush()
    left = memory.get(kept.id)
    assert set(left.message_ids) == {"m1", "m3"}
    assert left.confidence == pytest.approx(kept.confidence - 0.02)
    assert len(facts_of(memory)) == 2


def test_what_was_told_apart_stays_apart_when_it_is_said_again(open_memory, clock):
    memory = open_memory(extractor=stating())
    tell(memory, clock, BILLING, 1)
    tell(memory, clock, BILLING_AGAIN, 2)
    memory.history.restore(by_content(memory, BILLING_AGAIN).id)
    memory.flush()
    tell(memory, clock, BILLING_AGAIN, 3)  # extracted again, word for word
    tell(memory, clock, BILLING_ANEW, 4)  # and in other words, which may join one of them
    memory.jobs.run()
    assert len(facts_of(memory)) == 2
    clock.advance(days=1)
    for fact in facts_of(memory):
        # a stronger statement takes each of them in; they are still apart
        memory.update(fact.id, confidence=0.5)
    tell(memory, clock, "For the billing database I do use PostgreSQL", 5)
    memory.jobs.run()
    assert len(facts_of(memory)) == 2


def test_undoing_reaches_through_later_merges(open_memory, clock):
    memory = open_memory(extractor=stating())
    tell(memory, clock, BILLING, 1)
    tell(memory, clock, BILLING_AGAIN, 2)
    stronger = memory.add(BILLING_ANEW, **U, confidence=0.95)
    memory.flush()
    assert [fact.id for fact in facts_of(memory)] == [stronger.id]
    assert said_in(memory, stronger) == ["m1", "m2"]
    memory.history.restore(by_content(memory, BILLING_AGAIN).id)
    memory.flush()
    memory.jobs.run()
    assert said_in(memory, stronger) == ["m1"]
    assert len(facts_of(memory)) == 2


def test_the_same_words_can_be_told_apart_too(memory, clock):
    first = memory.add(BILLING, **U)
    clock.advance(days=1)
    other = memory.add("Something else", **U)
    memory.update(other.id, content=BILLING)
    memory.flush()
    (kept,) = facts_of(memory)
    memory.history.restore(first.id if kept.id == other.id else other.id)
    memory.flush()
    memory.jobs.run()
    assert len(facts_of(memory)) == 2


def test_deleting_a_merged_fact_deletes_what_was_merged_into_it(memory, clock):
    first = memory.add(BILLING, **U)
    clock.advance(days=1)
    second = memory.add(BILLING_AGAIN, **U)
    memory.flush()
    (kept,) = facts_of(memory)
    memory.delete(kept.id)
    for fact in (first, second):
        with pytest.raises(NotFoundError):
            memory.get(fact.id)
    memory.jobs.run(["compact"])
    with pytest.raises(NotFoundError):
        memory.history.restore(second.id)
    assert memory.history.versions(second.id)[-1].action == "forgotten"


# ---------------------------------------------------------------- what is left to look at


class Counting:
    """A judge that counts its pairs."""

    def __init__(self):
        self.asked = 0

    def judge(self, pairs):
        self.asked += len(pairs)
        return plain_pair_judge().judge(pairs)


def test_a_sweep_after_settling_looks_at_nothing_twice(memory, clock):
    memory.add("I live in Bergen", **U)
    memory.add(BILLING, **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    memory.add(BILLING_AGAIN, **U)
    memory.flush()
    service = inside(memory)
    assert service.resolver.pending(BOTH) == []
    assert [service.upkeep.run_due(job).users for job in ("dedup", "conflicts")] == [0, 0]
    memory.observe(say("How are you?"), **S)
    memory.flush()
    judge = Counting()
    resolver = Resolver(service.ledger, service.index, clock, judge, READ)
    for user in resolver.pending(BOTH):
        resolver.resolve(user)
    assert judge.asked == 0  # a message is no fact


def test_fading_use_and_archiving_leave_nothing_to_look_at(memory, clock):
    kept = memory.add("The beta ships in May", **U, category="project")
    memory.add("The alpha shipped in March", **U, category="project", confidence=0.31)
    memory.flush()
    clock.advance(weeks=3)
    inside(memory).uses.note([kept.id], clock.now())
    runs = {run.job: run.counts for run in memory.jobs.run(["usage", "decay"])}
    assert runs == {"usage": {"used": 1}, "decay": {"faded": 2, "archived": 1}}
    assert inside(memory).resolver.pending(BOTH) == []


def test_what_is_new_beside_fading_is_still_looked_at(open_memory, clock):
    memory = open_memory(settings=UNATTENDED)
    memory.add("I live in Bergen", **U, category="project")
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    memory.jobs.run(["decay"])
    assert inside(memory).upkeep.run_due("conflicts").counts == {"superseded": 1}


# ---------------------------------------------------------------- conflicts


def test_what_no_longer_holds_is_superseded_and_answers_what_was_believed(memory, clock):
    old = memory.add("I live in Bergen", **U)
    then = clock.now() + timedelta(days=1)
    clock.advance(days=30)
    new = memory.add("I live in Oslo", **U)
    memory.flush()
    assert contents(memory) == ["I live in Oslo"]
    replaced = memory.get(old.id)
    assert (replaced.status, replaced.superseded_by) == (Status.SUPERSEDED, new.id)
    assert memory.search("where do I live", **U, as_of=then)[0].fact.content == "I live in Bergen"
    assert [version.action for version in memory.history.versions(old.id)] == [
        "added",
        "superseded",
    ]


def test_a_restored_fact_is_not_superseded_again(memory, clock):
    old = memory.add("I live in Bergen", **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    memory.flush()
    memory.history.restore(old.id)
    memory.flush()
    memory.jobs.run()
    assert contents(memory) == ["I live in Bergen", "I live in Oslo"]


def test_a_dry_run_tells_exactly_what_would_change_and_changes_nothing(open_memory, clock):
    memory = open_memory(settings=UNATTENDED)
    memory.add("I live in Bergen", **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    (run,) = memory.jobs.run(["conflicts"], dry_run=True)
    assert (run.dry_run, run.counts) == (True, {"superseded": 1})
    (planned,) = run.planned
    assert planned.startswith("supersede “I live in Bergen” by “I live in Oslo” (")
    assert len(contents(memory)) == 2
    (run,) = memory.jobs.run(["conflicts"])
    assert run.counts == {"superseded": 1}
    assert contents(memory) == ["I live in Oslo"]
    assert memory.jobs.runs()[0] == run


def test_what_changes_while_it_is_planned_is_left_to_the_next_run(open_memory, clock):
    memory = open_memory(settings=UNATTENDED)
    old = memory.add("I live in Bergen", **U)
    clock.advance(days=30)
    memory.add("I live in Oslo", **U)
    ledger = inside(memory).ledger

    class Meddling:
        def judge(self, pairs):
            memory.update(old.id, confidence=0.5)
            return [OVER for _ in pairs]

    resolver = Resolver(ledger, inside(memory).index, clock, Meddling(), READ)
    (user,) = resolver.pending(BOTH, "u1")
    assert resolver.resolve(user).counts == {}
    assert status(memory, old) is Status.ACTIVE
    assert resolver.pending(BOTH, "u1")  # to be looked at again


# ---------------------------------------------------------------- fading


def test_what_is_not_confirmed_fades_and_is_archived_and_comes_back(memory, clock):
    fact = memory.add("The beta ships in May", **U, category="project", confidence=0.5)
    kept = memory.add("Prefers tea", **U, category="preference", confidence=0.5)
    clock.advance(weeks=10)
    memory.jobs.run(["decay"])
    assert memory.get(fact.id).confidence == pytest.approx(0.4)
    assert memory.get(kept.id).confidence == 0.5  # preferences don't fade
    memory.jobs.run(["decay"])
    assert memory.get(fact.id).confidence == pytest.approx(0.4)  # a week is taken once
    clock.advance(weeks=15)
    memory.jobs.run(["decay"])
    assert status(memory, fact) is Status.ARCHIVED
    assert "The beta ships in May" not in contents(memory)
    memory.history.restore(fact.id)
    memory.jobs.run(["decay"])
    assert status(memory, fact) is Status.ACTIVE


def test_a_clock_that_was_ahead_archives_nothing_for_good(memory, clock):
    low = memory.add("The beta ships in May", **U, category="project", confidence=0.5)
    high = memory.add("The shop runs on Go", **U, category="technical", confidence=0.9)
    right = clock.now()
    clock.advance(weeks=40)
    memory.jobs.run(["decay"])
    assert status(memory, low) is Status.ARCHIVED
    assert memory.get(high.id).confidence == pytest.approx(0.5)
    clock.moment = right + timedelta(days=1)
    (run,) = memory.jobs.run(["decay"])
    assert (run.error, run.counts) == (None, {"regained": 1, "restored": 1})
    assert memory.get(low.id).confidence == pytest.approx(0.5)
    assert memory.get(high.id).confidence == pytest.approx(0.9)
    assert "The beta ships in May" in contents(memory)
    clock.advance(weeks=1)
    memory.jobs.run(["decay"])
    assert memory.get(high.id).confidence == pytest.approx(0.89)


def test_an_old_memory_that_is_taken_in_today_has_not_faded_yet(memory, clock):
    fact = memory.add(
        "The beta ships in May",
        **U,
        category="project",
        created_at=clock.now() - timedelta(days=1000),
    )
    memory.jobs.run(["decay"])
    assert memory.get(fact.id).confidence == 1.0


def test_over_the_cap_the_least_confident_go_and_pinned_ones_stay(open_memory):
    settings = Settings(upkeep=UpkeepSettings(cap=3, schedule=False))
    memory = open_memory(settings=settings)
    words = ["amber", "birch", "cedar", "dusk", "ember"]
    facts = [
        memory.add(word, **U, confidence=0.5 + number / 10, tags=["pinned"] if number == 0 else [])
        for number, word in enumerate(words)
    ]
    memory.jobs.run(["decay"])
    assert [status(memory, fact) for fact in facts] == [
        Status.ACTIVE,
        Status.ARCHIVED,
        Status.ARCHIVED,
        Status.ACTIVE,
        Status.ACTIVE,
    ]


def test_what_helped_is_counted_once_an_hour(memory, clock, open_memory):
    fact = memory.add("Prefers tea over coffee", **U)
    for _ in range(3):
        memory.context("tea or coffee?", **U)
    memory.jobs.run(["usage"])
    assert memory.get(fact.id).use_count == 1
    memory.context("tea or coffee?", **U)
    memory.jobs.run(["usage"])
    assert memory.get(fact.id).use_count == 1
    clock.advance(hours=2)
    memory.context("tea or coffee?", **U)
    memory.close()
    assert open_memory().get(fact.id).use_count == 2  # closing counts what is left


def test_use_confirmation_and_pins_slow_fading_in_ranking_as_in_the_sweep(open_memory, clock):
    told_again = "The audit is planned for summer"
    memory = open_memory(
        extractor=ScriptedExtractor(
            lambda said: [
                Candidate(
                    content=told_again,
                    category="project",
                    confidence=1.0,
                    message_ids=(said[0].id,),
                )
            ]
        )
    )

    def project(content, **values):
        return memory.add(content, **U, category="project", **values)

    plain, helped, pinned = (
        project("The launch is planned for spring"),
        project("The budget is planned for autumn"),
        project("The office move is planned for winter", tags=["pinned"]),
    )
    told = project(told_again)
    memory.observe(say(told_again), **S)
    memory.flush()
    for _ in range(3):
        clock.advance(hours=2)
        inside(memory).uses.note([helped.id], clock.now())
        memory.jobs.run(["usage"])
    clock.advance(days=120)
    hits = memory.search("what is planned", **U, k=10, filters={"categories": ["project"]})
    parts = {hit.fact.id: hit.parts.retention for hit in hits}
    for fact_id, left in parts.items():
        assert left == pytest.approx(retention(memory.get(fact_id), clock.now()))
    assert parts[plain.id] < parts[helped.id] < parts[pinned.id] == 1.0
    assert parts[plain.id] < parts[told.id]


# ---------------------------------------------------------------- erasing


def test_compaction_leaves_no_text_of_what_was_forgotten(open_memory, tmp_path, clock):
    memory = open_memory()
    memory.observe(say("My boat is called swordfish", "I like tea"), **S)
    memory.flush()
    fact = memory.add("Secret ingredient is marzipan", **U)
    clock.advance(days=1)
    memory.update(fact.id, content="Secret ingredient is cardamom")
    memory.delete(fact.id, reason="gdpr")
    (told,) = memory.list(**U, filters="swordfish category:conversation")
    memory.delete(told.id, reason="gdpr")  # with the fact that was drawn from it
    (run,) = memory.jobs.run(["compact"], dry_run=True)
    assert run.counts["erased"] >= 3
    (run,) = memory.jobs.run(["compact"])
    assert run.counts["erased"] >= 3
    assert run.error is None
    assert [message.content for message in memory.sessions.messages(**S)] == ["I like tea"]
    assert (
        memory.observe(say("My boat is called swordfish"), **S).accepted == 0
    )  # forgotten for good
    assert all(finding.ok for finding in memory.admin.check())
    with pytest.raises(NotFoundError):
        memory.get(fact.id)
    assert memory.history.versions(fact.id)[-1].reason == "gdpr"  # the tombstone
    memory.close()
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file():
            held = path.read_bytes().lower()
            assert b"swordfish" not in held, path
            assert b"marzipan" not in held, path
            assert b"cardamom" not in held, path
    again = open_memory()
    again.flush()
    assert [message.content for message in again.sessions.messages(**S)] == ["I like tea"]
    assert again.observe(say("My boat is called swordfish"), **S).accepted == 0


# ---------------------------------------------------------------- running


def test_a_failing_job_holds_up_no_other_and_is_kept_with_its_error(memory, events, monkeypatch):
    def fail(*_, **__):
        raise ValueError("a mistake")

    monkeypatch.setattr("semantic_memory.application.jobs.upkeep.to_archive", fail)
    memory.add("x", **U)
    runs = memory.jobs.run()
    assert {run.job: run.error for run in runs} == {
        "usage": None,
        "relevance": None,
        "expiry": None,
        "dedup": None,
        "conflicts": None,
        "decay": "ValueError: a mistake",
        "rollup": None,
        "compact": None,
    }
    assert [e.error for e in events if isinstance(e, JobFinished) and e.job == "decay"] == [
        "ValueError: a mistake"
    ]


def test_a_run_under_way_tells_how_many_users_are_done_and_left(memory, monkeypatch):
    for number in range(4):
        memory.add("x", user_id=f"u{number}")
    memory.jobs.run(["usage"])
    seen = []

    def watched(*_, **__):
        seen.append(memory.jobs.runs())
        return []

    monkeypatch.setattr("semantic_memory.application.jobs.upkeep.to_archive", watched)
    (ended,) = memory.jobs.run(["decay"])
    under_way = [runs[0] for runs in seen]
    assert [run.users for run in under_way] == [0, 1, 2, 3]
    assert {(run.job, run.running, run.total) for run in under_way} == {("decay", True, 4)}
    assert under_way[0].seconds_left is None
    for run in under_way[1:]:
        left = run.seconds * (4 - run.users) / run.users
        assert run.seconds_left == pytest.approx(left, abs=0.001)
    assert [run.job for run in seen[0][1:]] == ["usage"]  # those that have ended come behind
    assert (ended.running, ended.users, ended.total, ended.seconds_left) == (False, 4, 4, None)
    assert memory.jobs.runs(1) == [ended]


def test_a_failed_run_is_no_longer_under_way_and_keeps_its_total(memory, monkeypatch):
    def fail(*_, **__):
        raise ValueError("a mistake")

    monkeypatch.setattr("semantic_memory.application.jobs.upkeep.to_archive", fail)
    for number in range(3):
        memory.add("x", user_id=f"u{number}")
    memory.jobs.run(["decay"])
    (run,) = memory.jobs.runs()
    assert (run.running, run.users, run.total) == (False, 0, 3)


def test_erasing_counts_sessions_and_the_ledger(memory):
    for number in range(2):
        memory.observe(say("I live in Bergen."), user_id="u1", session_id=f"s{number}")
    memory.flush()
    for fact in memory.list(user_id="u1", filters={"categories": ["conversation"]}):
        memory.delete(fact.id)
    (run,) = memory.jobs.run(["compact"], dry_run=True)
    assert (run.counts["logs"], run.users, run.total) == (2, 3, 3)


def test_an_unknown_job_is_named(memory):
    with pytest.raises(InvalidInputError, match=r"jobs\.0 must be usage, .*got 'sweep'"):
        memory.jobs.run(["sweep"])


def test_jobs_run_by_schedule_and_remember_when(memory, events, clock):
    service = inside(memory)
    scheduler = Scheduler(
        service.upkeep,
        service.ledger,
        clock,
        {"decay": timedelta(seconds=0.05)},
        earliest=timedelta(0),
    )
    scheduler.start()
    assert eventually(lambda: any(isinstance(event, JobFinished) for event in events))
    scheduler.close()
    assert service.ledger.meta("last run of decay") == clock.now().isoformat()
    clock.advance(hours=5)
    again = Scheduler(service.upkeep, service.ledger, clock, {"decay": timedelta(hours=24)})
    (due,) = again.due().values()
    assert due - datetime.now(UTC) == pytest.approx(timedelta(hours=19), abs=timedelta(minutes=1))


def test_settling_one_fact_at_a_time_leaves_nothing_for_a_look_at_all(open_memory, clock):
    memory = open_memory()
    dice = random.Random(3)
    said = [
        f"{who} {verb} {thing}"
        for who in ("I", "Ida")
        for verb, things in (
            ("lives in", ("Bergen", "Oslo", "Rome")),
            ("likes", ("jazz", "rock", "jazz very much")),
            ("doesn't like", ("jazz", "rock")),
            ("works at", ("Acme", "Acme in Oslo", "Initech")),
            ("has", ("2 cats", "3 cats", "a dog")),
        )
        for thing in things
    ]
    for sentence in dice.sample(said, len(said)):
        clock.advance(days=1)
        memory.add(sentence, **U)
        memory.flush()
    runs = memory.jobs.run(["dedup", "conflicts"], dry_run=True)
    assert [run.planned for run in runs] == [(), ()]
    assert 5 < len(contents(memory)) < len(said)
