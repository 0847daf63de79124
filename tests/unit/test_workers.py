"""Several workers on one ledger of PostgreSQL: what is done once, taken over, and shared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from datetime import timedelta

import pytest

from ingest.log_line import LineFormat
from semantic_memory.application.jobs.upkeep import LAST_RUN
from semantic_memory.domain.changes import Add, Embed, Forget, Redact
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.events import FactsExtracted, ForgetSettled, WorkerFailed
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.filters import FACTS
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports import SessionLog
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.pipeline.leasing import Leasing
from semantic_memory.testing import ScriptedExtractor
from tests.conftest import eventually, make_fact, say
from tests.contract.conftest import vectors
from tests.support import postgres
from tests.support.workers import Worker, make_worker

postgres.require()

from semantic_memory.ledger.postgres import PostgresLedger  # noqa: E402 - its driver may be absent
from semantic_memory.ledger.postgres.leases import PostgresLeases  # noqa: E402

Hire = Callable[..., Worker]
SESSION = "u1", "s1"


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semantic_memory.pipeline.runner._LOOK_SECONDS", 0.1)
    monkeypatch.setattr("semantic_memory.pipeline.runner._TAKEN_SECONDS", 0.1)
    monkeypatch.setattr("semantic_memory.pipeline.embedding._CLAIMED_SECONDS", 0.1)
    monkeypatch.setattr("semantic_memory.bootstrap.write_path._PATIENCE", 0.1)


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("workers")


@pytest.fixture
def ledger(url: str) -> Iterator[PostgresLedger]:
    ledger = PostgresLedger(url)
    yield ledger
    ledger.close()


@pytest.fixture
def log(ledger: PostgresLedger) -> SessionLog:
    return ledger.session_log(LineFormat(None), ignore_event)


@pytest.fixture
def hire(tmp_path, url, clock, events) -> Iterator[Hire]:
    """Return a function that makes a worker with a ledger and leases of its own."""
    hired: list[tuple[Worker, PostgresLedger]] = []

    def hire_one(
        script=lambda messages: [],
        *,
        ledger: PostgresLedger | None = None,
        begins: bool = True,
        dies: bool = False,
        **options,
    ) -> Worker:
        ledger = ledger or PostgresLedger(url)
        log = ledger.session_log(LineFormat(None), events.append)
        leasing = Leasing(PostgresLeases(ledger.connections), 0.5 if dies else 30.0)
        if dies:
            leasing.close()  # renews nothing
        extractor = ScriptedExtractor(script)
        log = ledger.session_log(LineFormat(None), events.append)
        worker = make_worker(
            tmp_path, ledger, log, leasing, extractor, clock, events.append, **options
        )
        hired.append((worker, ledger))
        if begins:
            worker.pipeline.start()
        return worker

    yield hire_one
    for worker, ledger in hired:
        worker.close()
        ledger.close()


class Held:
    """A script that finds one fact, once it is let go."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.calls = 0

    def __call__(self, messages: list[Message]) -> list[Candidate]:
        self.calls += 1
        self.begun.set()
        assert self.go_on.wait(timeout=120)
        return found(self.content)(messages)


def found(content: str) -> Callable[[list[Message]], list[Candidate]]:
    return lambda messages: [
        Candidate(content=content, category="finding", confidence=1, message_ids=(messages[0].id,))
    ]


def facts(ledger: PostgresLedger) -> list[str]:
    return [fact.content for fact in ledger.find("u1", FACTS)]


# ---------------------------------------------------------------- once


def test_no_session_is_extracted_by_two_workers_at_once(hire, ledger, events):
    slow, quick = Held("Ida has a cat"), Held("Ida has a dog")
    quick.go_on.set()
    first = hire(slow)
    first.pipeline.observe(say("I have a cat"), *SESSION)
    assert slow.begun.wait(timeout=120)
    other = hire(quick)
    with ThreadPoolExecutor(1) as pool:
        flushed = pool.submit(other.pipeline.flush)
        assert not slow.go_on.wait(timeout=0.5)
        assert not flushed.done()
        slow.go_on.set()
        flushed.result(timeout=120)
    assert quick.calls == 0
    assert facts(ledger) == ["Ida has a cat"]
    assert len([one for one in events if isinstance(one, FactsExtracted)]) == 1


def test_many_sessions_are_each_extracted_once_by_workers_that_share_them(hire, ledger):
    read: list[str] = []

    def script(messages: list[Message]) -> list[Candidate]:
        read.append(messages[0].content)
        return []

    workers = [hire(script) for _ in range(3)]
    for number in range(12):
        session = f"s{number}"
        workers[number % 3].pipeline.observe(say(f"thing {number}"), "u1", session)
    for worker in workers:
        worker.pipeline.flush()
    assert sorted(read) == sorted(f"thing {number}" for number in range(12))
    assert ledger.count_unembedded() == 0


def test_flushing_waits_for_what_another_worker_embeds(hire, ledger):
    ledger.apply([Add(make_fact(1))])
    assert len(ledger.claim_unembedded(9, 600.0).facts) == 1
    worker = hire(threads=0)
    with ThreadPoolExecutor(1) as pool:
        flushed = pool.submit(worker.pipeline.flush)
        assert not eventually(flushed.done, seconds=0.5)
        ledger.apply([Embed("fact-1", "Thing number 1", vectors())])
        flushed.result(timeout=120)
    assert worker.embedder.embedded == 0


def test_a_request_to_forget_is_done_once(hire, ledger, events):
    workers = [hire() for _ in range(2)]
    said = say("My sister Anna lives in Bergen.", "Please forget what I said about Anna.")
    workers[0].pipeline.observe(said, *SESSION)
    for worker in workers:
        worker.pipeline.flush()
    assert eventually(lambda: any(isinstance(one, ForgetSettled) for one in events))
    assert len([one for one in events if isinstance(one, ForgetSettled)]) == 1


# ---------------------------------------------------------------- taken over


def test_a_paused_worker_commits_nothing_once_another_has_taken_over(hire, ledger, log):
    paused = Held("Ida has a cat")
    first = hire(paused, dies=True)
    first.pipeline.observe(say("I have a cat"), *SESSION)
    assert paused.begun.wait(timeout=120)
    other = hire(found("Ida has a dog"))
    other.pipeline.flush()
    assert facts(ledger) == ["Ida has a dog"]
    cursor, revision = ledger.cursor(*SESSION, "extracted"), ledger.revision("u1")
    paused.go_on.set()
    first.pipeline.flush()
    assert paused.calls == 1
    assert facts(ledger) == ["Ida has a dog"]
    assert (ledger.cursor(*SESSION, "extracted"), ledger.revision("u1")) == (cursor, revision)


def test_the_messages_that_a_worker_left_in_the_log_are_stored_and_extracted(hire, ledger, log):
    hire(found("Ida has a cat"))
    log.append(*SESSION, say("I have a cat"))  # by a worker that was killed then
    assert eventually(lambda: facts(ledger) == ["Ida has a cat"])


def test_what_a_worker_left_is_taken_up_by_every_stage(hire, ledger):
    gone = hire(begins=False, threads=0)
    gone.pipeline.observe(say("I have a cat"), *SESSION)
    gone.pipeline.store()
    ledger.apply([Add(make_fact(1))])
    hire(found("Ida has a cat"))
    assert eventually(lambda: sorted(facts(ledger)) == ["Ida has a cat", "Thing number 1"])
    assert eventually(lambda: ledger.count_unembedded() == 0)
    assert eventually(lambda: not ledger.pending("core profiles"))


def test_what_a_worker_that_was_killed_has_forgotten_is_erased_by_another(hire, ledger, log, clock):
    gone = hire(begins=False, threads=0)
    hire()
    gone.pipeline.observe(say("My locker is marmalade7", "I have a cat"), *SESSION)
    gone.pipeline.observe(say("It is in the hall"), "u1", "s2")
    forgets = Forget(verbatim_id(SessionKey(*SESSION), "m1"), clock.now(), "asked for")
    ledger.apply([forgets, Redact(*SESSION, frozenset({"m1"})), Redact("u1", "s2")])
    assert eventually(lambda: not ledger.redactions())
    assert [record.message.content for record in log.read(*SESSION)] == ["I have a cat"]
    assert log.size("u1", "s2") == 0


def test_what_another_worker_waits_with_is_left_to_it(hire, ledger):
    talking = hire(found("Ida has a cat"), quiet_seconds=3_600.0)
    other = hire(found("Ida has a dog"), quiet_seconds=3_600.0)
    talking.pipeline.observe(say("I have a cat"), *SESSION)
    assert eventually(lambda: ledger.cursor(*SESSION, "stored").position == 1)
    assert not eventually(lambda: bool(facts(ledger)), seconds=1.0)
    other.pipeline.flush()
    assert facts(ledger) == ["Ida has a dog"]


# ---------------------------------------------------------------- shared


def test_workers_embed_batches_of_their_own(url, ledger):
    other = PostgresLedger(url)
    try:
        ledger.apply([Add(make_fact(number)) for number in range(1, 8)])
        mine, theirs = ledger.claim_unembedded(3, 600.0), other.claim_unembedded(9, 600.0)
        assert [fact.id for fact in mine.facts] == ["fact-1", "fact-2", "fact-3"]
        assert [fact.id for fact in theirs.facts] == [f"fact-{number}" for number in range(4, 8)]
        ledger.apply([Embed(one.id, one.content, vectors()) for one in mine.facts])
        assert ledger.claim_unembedded(3, 600.0) == ([], True)
        assert [fact.id for fact in other.claim_unembedded(2, 600.0).facts] == ["fact-4", "fact-5"]
        assert [fact.id for fact in ledger.claim_unembedded(9, 600.0).facts] == ["fact-6", "fact-7"]
    finally:
        other.close()


def test_what_a_killed_worker_claimed_is_embedded_once_its_time_is_over(url, ledger):
    ledger.apply([Add(make_fact(1))])
    ledger.claim_unembedded(9, 0.2)
    other = PostgresLedger(url)
    try:
        assert eventually(lambda: len(other.claim_unembedded(9, 600.0).facts) == 1)
    finally:
        other.close()


# ---------------------------------------------------------------- jobs


def test_a_scheduled_job_is_run_once_in_an_interval_by_whichever_worker(hire, ledger, clock):
    day = timedelta(days=1)
    one, other = hire(threads=0), hire(threads=0)
    assert one.upkeep.run_scheduled("decay", day)
    assert other.upkeep.run_scheduled("decay", day) is None
    clock.advance(hours=23)
    assert other.upkeep.run_scheduled("decay", day)
    assert one.upkeep.run_scheduled("decay", day) is None
    assert ledger.meta("last run of decay") == clock.now().isoformat()


def test_a_scheduled_job_without_the_database_is_reported_and_left_to_the_next_time(
    hire, url, events
):
    class Away(PostgresLedger):
        def meta(self, name: str) -> str | None:
            if name.startswith(LAST_RUN):
                raise StoreUnavailableError("it can't be reached")
            return super().meta(name)

    with closing(Away(url)) as away:
        worker = hire(threads=0, ledger=away)
        assert worker.upkeep.run_scheduled("decay", timedelta(hours=1)) is None
    (failed,) = [event for event in events if isinstance(event, WorkerFailed)]
    assert (failed.step, failed.retry_seconds) == ("decay", 3600.0)
    assert "can't be reached" in failed.error
    assert hire(threads=0).upkeep.run_scheduled("decay", timedelta(hours=1))


def test_a_run_for_one_user_leaves_the_others_to_the_schedule(hire, ledger):
    hire(threads=0).upkeep.run(["decay"], "u1")
    run = hire(threads=0).upkeep.run_scheduled("decay", timedelta(days=1))
    assert run is not None


def test_a_run_that_ended_with_its_worker_is_finished_by_another(hire, ledger, clock):
    ledger.apply(
        [
            Add(make_fact(number, user_id=f"u{number}", category="finding", confidence=0.9))
            for number in (1, 2)
        ]
    )
    clock.advance(days=7)
    ending = hire(threads=0)
    ending.upkeep.close()
    day = timedelta(days=1)
    (first, second) = (one.upkeep.run_scheduled("decay", day) for one in (ending, hire(threads=0)))
    assert (first.counts, second.counts) == ({"faded": 1}, {"faded": 1})
    assert hire(threads=0).upkeep.run_scheduled("decay", day) is None


def test_each_worker_writes_the_uses_that_it_has_buffered(hire, ledger):
    day = timedelta(days=1)
    assert hire(threads=0).upkeep.run_scheduled("usage", day)
    assert hire(threads=0).upkeep.run_scheduled("usage", day)


def test_a_job_that_another_worker_runs_is_passed_over_and_by_hand_waited_for(hire, ledger):
    leases = PostgresLeases(ledger.connections)
    worker = hire(threads=0)
    lease = leases.take("job decay", 600.0)
    assert lease is not None
    assert worker.upkeep.run_scheduled("decay", timedelta(days=1)) is None
    assert [run.error for run in worker.upkeep.run(["decay"], dry_run=True)] == [None]
    with ThreadPoolExecutor(1) as pool:
        runs = pool.submit(worker.upkeep.run, ["decay"])
        assert not eventually(runs.done, seconds=0.3)
        lease.release()
        assert [run.error for run in runs.result(timeout=120)] == [None]


class Pausing(PostgresLedger):
    """A ledger of a worker that pauses before it looks at a user once more, to commit."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.reached, self.go_on = threading.Event(), threading.Event()

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        self.reached.set()
        assert self.go_on.wait(timeout=120)
        return super().exclusive(*user_ids)


def test_a_sweep_that_was_paused_fades_nothing_that_another_has_faded(hire, url, ledger, clock):
    ledger.apply([Add(make_fact(1, category="finding", confidence=0.9), vectors())])
    clock.advance(days=7)
    pausing = Pausing(url)
    first = hire(ledger=pausing, begins=False, dies=True)
    with ThreadPoolExecutor(1) as pool:
        paused = pool.submit(first.upkeep.run_due, "decay")
        assert pausing.reached.wait(timeout=120)
        assert hire(threads=0).upkeep.run_due("decay").counts == {"faded": 1}
        pausing.go_on.set()
        assert paused.result(timeout=120).counts == {}
    (fact,) = ledger.get(["fact-1"])
    assert fact.confidence == pytest.approx(0.8)
