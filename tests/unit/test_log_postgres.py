"""Session logs on PostgreSQL: workers that share them, and connections that are lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from ingest.encryption import Cipher, new_key
from ingest.gate import Gate
from ingest.log_line import LineFormat
from semantic_memory.consolidation.fading import Fading
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Redact
from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError
from semantic_memory.domain.events import Event
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.reading import PortionReader, StretchReader
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.sessions import Sessions, Shortening
from semantic_memory.pipeline.stage import EXTRACT, Outlook
from semantic_memory.pipeline.storing import Storing
from semantic_memory.session.state_files import StateFiles
from semantic_memory.settings import LogSettings
from semantic_memory.testing import FrozenClock
from tests.conftest import NOW, eventually, say
from tests.support import postgres
from tests.support.logs import Database, contents

postgres.require()

import psycopg  # noqa: E402 - it may be absent

from semantic_memory.ledger.postgres import PostgresLedger  # noqa: E402

KEY = SessionKey("u1", "s1")


class Idle:
    """The stage of extraction, without any work."""

    name = EXTRACT

    def pending(self) -> Iterator[SessionKey]:
        yield from ()

    def run(self, item: SessionKey) -> None:
        del item

    def outlook(self) -> Outlook:
        return Outlook("extracting", 0)


class Worker:
    """The write path up to the stored message, as one process has it."""

    def __init__(self, url: str, directory: Path, events: list[Event]) -> None:
        self.ledger = PostgresLedger(url)
        self.log = self.ledger.session_log(LineFormat(None), events.append)
        self.reader = PortionReader(self.ledger, self.log)
        stretches = StretchReader(self.ledger, self.reader, FrozenClock(NOW), str)
        clock, gate, runner = FrozenClock(NOW), Gate(), Runner(events.append, 1.0, 0)
        storing = Storing(
            self.ledger, self.log, self.reader, gate, clock, events.append, lambda _: None
        )
        states = StateFiles(directory, events.append, SystemDisk())
        sessions = Sessions(
            self.ledger,
            self.log,
            states,
            self.reader,
            stretches,
            lambda key: storing.store([key]),
        )
        shortening = Shortening(
            self.ledger,
            self.log,
            sessions,
            events.append,
            runner.hint,
            LogSettings(),
            1.0,
            clock,
            Fading(),
        )
        runner.add(storing)
        runner.add(Idle())
        self.pipeline = Pipeline(
            self.ledger, self.log, gate, storing, sessions, shortening, runner, events.append
        )

    def found(self) -> set[str]:
        """Return the texts of the user's memories."""
        return {fact.content for fact in self.ledger.find("u1", Filters())}


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("unit_log")


@pytest.fixture
def workers(url: str, tmp_path: Path, events: list[Event]) -> Iterator[tuple[Worker, Worker]]:
    both = Worker(url, tmp_path, events), Worker(url, tmp_path, events)
    yield both
    for worker in both:
        worker.pipeline.close()
        worker.ledger.close()


@pytest.fixture
def place(url: str, events: list[Event]) -> Iterator[Database]:
    with ExitStack() as opened:
        yield Database(url, events.append, None, opened)


def test_writers_of_a_session_that_another_process_holds_leave_connections_to_others(place, url):
    place.log.append(*KEY, say("One"))
    with ThreadPoolExecutor(12) as pool, psycopg.connect(url.partition("&schema")[0]) as holder:
        holder.execute("SELECT FROM unit_log.logs FOR UPDATE")
        said = say(*map(str, range(12)), start=2)
        appended = [pool.submit(place.log.append, "u1", "s1", [message]) for message in said]
        assert not eventually(lambda: any(one.done() for one in appended), seconds=0.5)
        assert place.log.size("u2", "s1") == 0
        holder.rollback()
        assert [one.result(timeout=120) for one in appended] == [1] * 12


# ---------------------------------------------------------------- workers


def test_another_worker_finds_a_message_once_observe_has_returned(workers):
    one, two = workers
    assert one.pipeline.observe(say("One", "Two"), *KEY).accepted == 2
    assert two.found() == {"One", "Two"}
    assert two.pipeline.observe(say("Two", "Three", start=2), *KEY).accepted == 1
    assert one.found() == {"One", "Two", "Three"}


def test_workers_observe_one_session_at_once(workers, events):
    def observe(number: int) -> bool:
        worker = workers[number % 2]
        worker.pipeline.observe(say(f"Text {number}", start=number), *KEY)
        return f"Text {number}" in workers[1 - number % 2].found()

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(observe, range(24)))
    assert len(contents(workers[0].log)) == len(workers[0].found()) == 24
    assert list(workers[0].log.behind(list)) == []
    assert {type(event).__name__ for event in events} <= {
        "MessagesObserved",
        "MemoriesStored",
        "SessionChanged",
        "LockWaited",
    }


def test_what_a_killed_worker_has_not_stored_another_one_does(workers):
    one, two = workers
    two.pipeline.store()  # has looked once
    one.log.append(*KEY, say("One"))
    two.pipeline.store()
    assert two.found() == {"One"}


def test_a_message_that_is_sent_again_is_stored_if_it_was_not(workers):
    one, two = workers
    one.log.append(*KEY, say("One"))
    assert two.pipeline.observe(say("One"), *KEY).duplicates == 1
    assert two.found() == {"One"}


def test_what_a_killed_worker_owes_to_a_log_another_one_pays_first(workers):
    one, two = workers
    one.pipeline.observe(say("One", "Two"), *KEY)
    one.ledger.apply([Redact(*KEY, frozenset({"m1"}))])
    one.ledger.apply([Redact("u1", "s2")])
    two.pipeline.observe(say("Three", start=3), *KEY)
    assert two.ledger.redactions() == [Redact("u1", "s2")]
    assert one.log.ids(*KEY) == {"m1", "m2", "m3"}


def test_of_two_workers_that_remove_a_log_one_does(workers):
    one, two = workers
    one.pipeline.observe(say("One"), *KEY)
    redact = Redact(*KEY)
    one.ledger.apply([redact])
    two.pipeline.observe(say("Two", start=2), *KEY)  # pays it
    with one.pipeline.held([KEY]):
        one.pipeline.redact(redact)
    assert contents(one.log) == ["Two"]


# ---------------------------------------------------------------- rewriting beside a commit


@pytest.mark.parametrize("rewriting", ["compact", "remove"])
def test_a_log_is_not_rewritten_while_another_process_commits_what_it_read(workers, rewriting):
    one, two = workers
    one.log.append(*KEY, say("One", "Two"))
    portion = one.reader.read(KEY, "stored", list)
    assert portion is not None
    done = threading.Event()

    def rewrite() -> None:
        if rewriting == "compact":
            two.log.compact(*KEY, {"m1"})
        else:
            two.log.remove(*KEY)
        done.set()

    with ThreadPoolExecutor(1) as threads:
        with one.ledger.exclusive("u1"):
            rewritten = threads.submit(rewrite)
            assert not done.wait(0.5)
            assert one.reader.stands(portion)
            one.log.append(*KEY, say("Three", start=3))  # waits for nobody
        rewritten.result(timeout=60)
    with one.ledger.exclusive("u1"):
        assert not one.reader.stands(portion)


def test_a_log_is_rewritten_within_an_exclusive_section_of_the_same_thread(workers):
    one, _ = workers
    one.log.append(*KEY, say("One", "Two"))
    with one.ledger.exclusive("u1"):
        assert one.log.compact(*KEY, {"m1"}).freed
        assert one.log.remove(*KEY)


# ---------------------------------------------------------------- failures

_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"


def test_an_append_whose_connection_is_lost_keeps_nothing(place):
    import psycopg

    place.log.append(*KEY, say("One"))
    server, _, schema = place.url.partition("&schema=")
    with ThreadPoolExecutor(1) as threads, psycopg.connect(server) as holding:
        holding.execute(f"SELECT FROM {schema}.log_lines FOR UPDATE".encode())
        holding.execute(f"SELECT FROM {schema}.logs FOR UPDATE".encode())
        append = threads.submit(place.log.append, "u1", "s1", say("Two", "Three", start=2))
        assert eventually(lambda: bool(place.run(_WAITING, "%logs%")))
        place.run(f"SELECT pg_terminate_backend(pid) FROM ({_WAITING}) waiting", "%logs%")
        with pytest.raises(StoreUnavailableError, match=r"ledger .*: it can't be reached"):
            append.result(timeout=60)
    assert contents(place.log) == ["One"]
    assert place.log.append(*KEY, say("Two", "Three", start=2)) == 2
    assert contents(place.again()) == ["One", "Two", "Three"]


def test_encrypted_logs_are_refused_at_once_without_their_key(url, events):
    cipher = Cipher([new_key()])
    ledger = PostgresLedger(url)
    ledger.session_log(LineFormat(cipher), events.append).append(*KEY, say("One"))
    for wrong in (None, Cipher([new_key()])):
        with pytest.raises(ConfigurationError, match="key"):
            ledger.session_log(LineFormat(wrong), events.append)
    ledger.close()


def test_a_line_at_the_end_that_is_taken_out_is_counted(place):
    place.log.append(*KEY, say("One", "Two"))
    place.run("DELETE FROM log_lines WHERE position = 1")
    assert place.log.summary(*KEY).corrupt_lines == place.log.corrupt_lines(*KEY) == 1
    assert place.log.append(*KEY, say("Two", start=2)) == 1
    assert contents(place.log) == ["One", "Two"]
