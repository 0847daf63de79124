"""The ledger on PostgreSQL: several writers, a server that fails, and what else is its own."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from semantic_memory.domain.changes import Add, Evict, Extracted, Forget, Touch, Update
from semantic_memory.domain.errors import (
    ConfigurationError,
    SchemaTooNewError,
    StoreClosedError,
    StoreUnavailableError,
)
from semantic_memory.domain.filters import Filters
from tests.conftest import NOW, eventually, make_fact
from tests.contract.conftest import vectors
from tests.support import postgres

postgres.require()

import psycopg  # noqa: E402 - it may be absent

from semantic_memory.ledger.postgres import PostgresLedger, numbering, schema  # noqa: E402
from semantic_memory.ledger.postgres.connections import split_url  # noqa: E402

Two = tuple[PostgresLedger, PostgresLedger]


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("unit")


@pytest.fixture
def ledger(url: str) -> Iterator[PostgresLedger]:
    ledger = PostgresLedger(url)
    yield ledger
    ledger.close()


@pytest.fixture
def two(url: str, ledger: PostgresLedger) -> Iterator[Two]:
    """Two ledgers of one database, which share nothing but it, like those of two processes."""
    other = PostgresLedger(url)
    yield ledger, other
    other.close()


def executed(url: str, statement: str) -> None:
    with psycopg.connect(url.partition("&schema")[0]) as connection:
        connection.execute(statement.encode())


# ---------------------------------------------------------------- several writers


def test_a_reader_numbers_so_many_events_at_once_and_reads_them_on_the_next_calls(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "AT_ONCE", 10)
    monkeypatch.setattr(numbering.Numbering, "wake", lambda _: None)
    monkeypatch.setattr("semantic_memory.ledger.postgres.events.PATIENCE_SECONDS", 0.0)
    ledger = PostgresLedger(url)
    ledger.apply([Extracted(f"u{n % 3}", "s1", 1, n, NOW) for n in range(25)])
    assert [ledger.last_event() for _ in range(4)] == [10, 20, 25, 25]
    assert [event.facts for event in ledger.events(0, 100)] == [*range(25)]
    ledger.close()


def test_a_reader_waits_for_nobody_who_numbers_events_and_does_not_go_on(
    url: str, two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    monkeypatch.setattr("semantic_memory.ledger.postgres.events.PATIENCE_SECONDS", 0.05)
    with other.connections.transaction() as db:
        db.execute("SELECT pg_advisory_xact_lock(?)", (schema.lock_key("events", "unit"),))
        one.apply([Add(make_fact(1))])
        assert one.events(0, 100) == []
        assert one.first_event() == one.last_event() == 0
    assert [event.memory_id for event in one.events(0, 100)] == ["fact-1"]


def test_events_are_numbered_in_the_background(ledger: PostgresLedger) -> None:
    def numbered() -> bool:
        with ledger.connections.snapshot() as db:
            return db.execute("SELECT max(num) FROM events").fetchone() == (1,)

    ledger.apply([Add(make_fact(1))])
    assert eventually(numbered)


def test_writers_of_one_user_number_its_changes_without_gaps(two):
    def write(writer: int) -> None:
        for number in range(40):
            two[writer % 2].apply([Add(make_fact(writer * 100 + number))])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert two[0].revision("u1") == two[1].count("u1") == 160
    assert [two[1].delta("u1", n, 1).revision for n in range(160)] == list(range(1, 161))


def test_what_is_read_in_an_exclusive_section_is_not_changed_by_another_process(two):
    two[0].apply([Add(make_fact())])

    def raise_it(writer: int) -> None:
        ledger = two[writer % 2]
        for _ in range(10):
            with ledger.exclusive("u1"), ledger.exclusive("u1"):
                (fact,) = ledger.get(["fact-1"])
                more = fact.model_copy(update={"use_count": fact.use_count + 1})
                ledger.apply([Update(more, "updated", NOW)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(raise_it, range(4)))
    (fact,) = two[1].get(["fact-1"])
    assert (fact.use_count, fact.version) == (40, 41)


def test_changes_of_two_users_in_any_order_do_not_stop_each_other(two):
    for user in ("u1", "u2"):
        two[0].apply([Add(make_fact(n, id=f"{user}-{n}", user_id=user)) for n in range(3)])

    def touch(writer: int) -> None:
        order = ["u1", "u2"] if writer % 2 else ["u2", "u1"]
        for number in range(20):
            two[writer % 2].apply([Touch(f"{user}-{number % 3}", 0.5) for user in order])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(touch, range(4)))
    assert [two[0].revision(user) for user in ("u1", "u2")] == [83, 83]


def test_a_follower_of_the_feed_misses_nothing_of_several_writers(two):
    def write(writer: int) -> None:
        user = f"u{writer}"
        for number in range(60):
            fact = make_fact(number, id=f"{user}-{number}", user_id=user)
            two[writer % 2].apply([Add(fact), Extracted(user, "s1", 1, number, NOW)])

    def follow(ledger: PostgresLedger) -> list[tuple[int, str, int | None]]:
        seen: list[tuple[int, str, int | None]] = []
        after = 0
        while len(seen) < 480:
            page = ledger.events(after, 7)
            seen += [(one.id, one.user_id, one.facts) for one in page]
            after = page.next
        return seen

    with ThreadPoolExecutor(6) as pool:
        following = [pool.submit(follow, ledger) for ledger in two]
        list(pool.map(write, range(4)))
        one, other = (done.result(timeout=300) for done in following)
    assert one == other
    assert [number for number, _, _ in one] == list(range(1, 481))
    for user in ("u0", "u1", "u2", "u3"):
        own = [facts for _, owner, facts in one if owner == user and facts is not None]
        assert own == list(range(60))


def test_a_follower_of_a_user_misses_nothing_of_several_writers(two):
    seen: set[str] = set()

    def write(writer: int) -> None:
        for number in range(40):
            changes = [Add(make_fact(writer * 100 + number)), Evict("u1", 9_999, NOW)]
            two[writer % 2].apply(changes)

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, writer) for writer in range(4)]
        since = 0
        while not all(done.done() for done in writing) or since < two[0].revision("u1"):
            delta = two[0].delta("u1", since, 5)
            seen |= {row.trait.id for row in delta.rows}
            since = delta.revision
    assert len(seen) == 160


def test_processes_bring_a_new_schema_up_to_date_at_once(postgres_server):
    url = f"{postgres_server.url}&schema=at_once"
    with ThreadPoolExecutor(4) as pool:
        ledgers = list(pool.map(PostgresLedger, [url] * 4))
    assert ledgers[0].apply([Add(make_fact())]) == 1
    assert [ledger.count() for ledger in ledgers] == [1] * 4
    for ledger in ledgers:
        ledger.close()


def test_who_follows_the_feed_is_woken_by_what_another_process_commits(two):
    woken = threading.Event()
    stop = two[0].on_commit(woken.set)
    assert woken.wait(timeout=120)
    woken.clear()
    two[1].apply([Add(make_fact())])
    assert woken.wait(timeout=120)
    assert two[0].last_event() == 1
    stop()


def test_what_a_paused_process_wrote_to_the_index_too_late_is_indexed_again(two):
    two[0].apply([Add(make_fact(), vectors())])
    paused = two[0].outbox(9)
    two[1].apply([Forget("fact-1", NOW, "asked for")])
    assert two[1].note_indexed(two[1].outbox(9).taken, "index", None, "level")
    assert two[1].count_unindexed() == 0
    assert not two[0].note_indexed(paused.taken, "index", None, "level")  # it wrote the text back
    assert list(two[1].outbox(9).removed) == ["fact-1"]


# ---------------------------------------------------------------- failures


def test_a_killed_server_is_told_of_and_its_return_is_noticed():
    server = postgres.create()
    try:
        server.start()
        ledger = PostgresLedger(server.emptied("killed"))
        ledger.apply([Add(make_fact(1), vectors())])
        server.stop("immediate")
        with pytest.raises(StoreUnavailableError, match="see that the server runs"):
            ledger.apply([Add(make_fact(2))])
        with pytest.raises(StoreUnavailableError, match="see that the server runs"):
            PostgresLedger(server.url)
        server.start()
        assert ledger.apply([Add(make_fact(2))]) == 1
        assert ledger.ids("u1") == ["fact-1", "fact-2"]
        assert ledger.embedded_ids() == {"fact-1"}
        ledger.close()
    finally:
        server.stop("immediate")
        server.remove()


def test_a_restart_of_the_server_between_two_calls_goes_unnoticed(ledger, url):
    ledger.apply([Add(make_fact(1))])
    executed(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    )
    assert ledger.apply([Add(make_fact(2))]) == 1


def test_nothing_is_written_once_an_exclusive_section_has_lost_its_lock(ledger, url):
    with pytest.raises(StoreUnavailableError), ledger.exclusive("u1"):  # noqa: PT012
        executed(url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        ledger.apply([Add(make_fact())])
    assert ledger.count() == 0
    assert ledger.apply([Add(make_fact())]) == 1


def test_a_lock_that_is_held_for_long_is_not_waited_for_for_ever(two, monkeypatch):
    monkeypatch.setattr("semantic_memory.ledger.postgres.connections._LOCK_SECONDS", 0.2)
    one, other = two
    with one.exclusive("u1"):
        with pytest.raises(StoreUnavailableError, match="another process has held a lock for long"):
            other.apply([Add(make_fact(1))])
        with pytest.raises(StoreUnavailableError, match="try again"), other.exclusive("u1"):
            pass
    assert other.apply([Add(make_fact(1))]) == 1


def test_a_process_that_is_paused_in_an_exclusive_section_gives_its_user_up(two, monkeypatch):
    connections = "semantic_memory.ledger.postgres.connections"
    paused, other = two
    with ExitStack() as section:
        with monkeypatch.context() as patched:
            patched.setattr(f"{connections}._IDLE_HOLDING_SECONDS", 0.2)
            section.enter_context(pytest.raises(StoreUnavailableError, match="paused"))
            section.enter_context(paused.exclusive("u1"))
        assert other.apply([Add(make_fact(1))]) == 1
        paused.apply([Add(make_fact(2))])
    assert [fact.id for fact in paused.get(["fact-1", "fact-2"])] == ["fact-1"]


def test_a_closed_ledger_says_so(ledger):
    ledger.close()
    with pytest.raises(StoreClosedError), ledger.exclusive("u1"):
        pass


def test_a_schema_of_a_newer_version_is_refused(url):
    executed(url, "INSERT INTO unit.migrations VALUES (99)")
    try:
        with pytest.raises(SchemaTooNewError, match="has schema 99"):
            PostgresLedger(url)
    finally:
        executed(url, "DELETE FROM unit.migrations WHERE number = 99")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://host/database", "must be like postgresql://"),
        ("postgresql://host/database?schema=a;b", "must be 1-63 lower-case letters"),
    ],
)
def test_a_url_that_names_no_schema_is_refused(url, said):
    with pytest.raises(ConfigurationError, match=said):
        split_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///memories?host=/run/postgresql",
        "postgresql://u@db/memories?options=-c%20statement_timeout%3D5s&sslmode=require",
        "postgresql://u@db/memories?password=a+b%20c",
        "postgresql://u:p%23w@one:5432,two:5433/memories",
    ],
)
def test_the_rest_of_a_url_reaches_the_driver_as_it_is_written(url):
    joint = "&" if "?" in url else "?"
    assert split_url(f"{url}{joint}schema=agents") == (url, "agents")
    assert split_url(url) == (url, "semantic_memory")


def test_without_its_packages_the_install_is_named():
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from semantic_memory.domain.errors import MissingDependencyError\n"
        "try:\n    import semantic_memory.ledger.postgres\n"
        "except MissingDependencyError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "semantic-memory[postgres]"' in done.stdout


# ---------------------------------------------------------------- beside writers


def test_an_index_is_filled_anew_and_followed_beside_writers(two):
    writing, following = two
    facts = [make_fact(number, user_id=f"u{number % 2}") for number in range(40)]
    writing.apply([Add(fact, vectors(1)) for fact in facts])

    def write(first: int) -> None:
        for start in range(first, first + 30):
            turned = [facts[(start - number) % 40].id for number in range(20)]
            writing.apply([Touch(fact_id, confidence=0.5) for fact_id in turned])

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, first) for first in (0, 20)]
        while not all(writer.done() for writer in writers):
            following.unindex("index", "filled")
            taken = following.outbox(1_000).taken
            following.note_indexed(taken, "index", "filled", "followed")
        for writer in writers:
            writer.result()
    following.note_indexed(following.outbox(1_000).taken, "index", "followed", "followed")
    assert following.count_unindexed() == 0
    assert following.held() == (40, 40)


def test_a_mark_that_a_writer_holds_stays(ledger, url):
    ledger.apply([Add(make_fact(1), vectors(1)), Add(make_fact(2), vectors(2))])
    with psycopg.connect(url.partition("&schema")[0]) as writer:
        writer.execute("SELECT FROM unit.unindexed WHERE num = 1 FOR UPDATE")
        ledger.note_indexed(ledger.outbox(9).taken, "index", None, "followed")
        assert ledger.unindexed(9) == {"fact-1"}


def test_erasing_waits_for_the_users_writer_before_it_holds_a_memory(ledger, url):
    ledger.apply([Add(make_fact(1)), Forget("fact-1", NOW)])
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(url.partition("&schema")[0]) as writer,
    ):
        writer.execute("SELECT FROM unit.users WHERE user_id = 'u1' FOR UPDATE")
        erased = pool.submit(ledger.erase)
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while writer.execute(waits.encode()).fetchone() == (0,):
            time.sleep(0.01)
        writer.execute("UPDATE unit.facts SET reason = '' WHERE num = 1")
        writer.commit()
        assert erased.result() == {"u1": 1}


# ---------------------------------------------------------------- words and values


def test_a_text_of_any_size_and_words_of_any_length_are_found(ledger):
    many = " ".join(f"word{number:06}" for number in range(80_000))
    ledger.apply([Add(make_fact(1, content=many)), Add(make_fact(2, content="x" * 9_000))])
    assert [one.id for one in ledger.words("u1", ["word079999"], limit=2)] == ["fact-1"]
    assert [one.id for one in ledger.words("u1", ["x" * 9_000], limit=2)] == ["fact-2"]
    for word, found in (("word07999*", ["fact-1"]), ("word07", []), ("xx*", ["fact-2"])):
        assert ledger.ids("u1", Filters(words=(word,))) == found


def test_metadata_may_hold_what_no_column_can(ledger):
    values = {"a": "1\0\0\\u0000", "b": 2}
    ledger.apply([Add(make_fact(metadata=values, references=("fact-2",)))])
    assert ledger.ids("u1", Filters(metadata={"b": {"$gt": 1}})) == ["fact-1"]
    assert ledger.linked("u1", "fact-1", depth=1) == {"fact-2"}
    assert ledger.get(["fact-1"])[0].metadata == values


def test_users_of_one_database_see_nothing_of_another_schema(ledger, postgres_server):
    other = PostgresLedger(f"{postgres_server.url}&schema=another")
    ledger.apply([Add(make_fact())])
    assert other.users() == []
    other.close()
