"""Behaviour specific to the ledger on SQLite."""

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from semantic_memory.domain.changes import Add, Write
from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreClosedError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.profile import Line
from semantic_memory.ledger.rows import FACT_COLUMNS, from_fact, owner_token
from semantic_memory.ledger.schema import MIGRATIONS
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.conftest import NOW, make_fact


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite3"


FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})


def test_commits_wait_for_the_disk(path):
    ledger = SqliteLedger(path)
    writer = ledger._connections._writer
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert writer.execute("PRAGMA synchronous").fetchone() == (2,)
    ledger.close()


def test_the_file_is_private(path):
    SqliteLedger(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_newer_schema_is_refused_with_the_remedy(path):
    SqliteLedger(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(SchemaTooNewError, match="pip install -U"):
        SqliteLedger(path)


def test_a_file_that_is_no_database_is_named(path):
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreCorruptError, match="is damaged"):
        SqliteLedger(path)


def test_a_full_disk_is_said_and_loses_nothing(path):
    ledger = SqliteLedger(path)
    ledger.apply([Add(make_fact(1))])
    writer = ledger._connections._writer
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailableError, match="the disk is full"):
        ledger.apply([Add(make_fact(2, content="x" * 500_000))])
    assert [fact.id for fact in ledger.find("u1", Filters())] == ["fact-1"]
    writer.execute("PRAGMA max_page_count = 1000000")
    ledger.apply([Add(make_fact(2))])
    assert ledger.count() == 2
    assert ledger.damage() == []
    ledger.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_said(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(StoreUnavailableError, match="can't create"):
        SqliteLedger(tmp_path / "closed" / "ledger.sqlite3")


def test_using_it_after_closing_is_said(path):
    ledger = SqliteLedger(path)
    ledger.close()
    with pytest.raises(StoreClosedError):
        ledger.count()
    with pytest.raises(StoreClosedError):
        ledger.apply([Add(make_fact())])


def test_damage_is_found(path):
    ledger = SqliteLedger(path)
    ledger.apply([Add(make_fact(number, content="word " * 200)) for number in range(200)])
    ledger.close()
    data = bytearray(path.read_bytes())
    data[40_000:44_000] = os.urandom(4_000)
    path.write_bytes(data)
    ledger = SqliteLedger(path)
    assert ledger.damage()
    ledger.close()


def test_the_owners_token_is_one_word_that_stemming_leaves_alone(path):
    ledger = SqliteLedger(path)
    users = [f"user-{number}" for number in range(300)]
    ledger.apply([Add(make_fact(n, user_id=user)) for n, user in enumerate(users)])
    with ledger._connections.snapshot() as db:
        for user in users:
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            assert db.execute(query, (f"owner : {owner_token(user)}",)).fetchone() == (1,)
    ledger.close()


def test_threads_share_it(path):
    from concurrent.futures import ThreadPoolExecutor

    ledger = SqliteLedger(path)

    def work(number: int) -> int:
        ledger.apply([Add(make_fact(number, user_id=f"u{number % 5}"))])
        return len(ledger.find(f"u{number % 5}", Filters()))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert ledger.count() == 200
    assert ledger.revision() == 200
    ledger.close()


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_a_ledger_of_an_older_schema_is_brought_up_to_date(path, version):
    db = sqlite3.connect(path)
    scripts = " ".join(MIGRATIONS[:version])
    db.executescript(f"BEGIN; {scripts} PRAGMA user_version = {version}; COMMIT;")
    columns = FACT_COLUMNS.split(", ")
    for number, status in enumerate([Status.ACTIVE, Status.FORGOTTEN, Status.ACTIVE], start=1):
        values = (*from_fact(make_fact(number, status=status)), "added", "", 0, 0, number)
        db.execute(
            f"INSERT INTO facts ({', '.join(columns)}, action, reason, changed_at, embedded,"
            f" revision) VALUES ({', '.join('?' * len(values))})",
            values,
        )
    db.commit()
    db.close()
    ledger = SqliteLedger(path)
    assert ledger.count("u1") == 2
    assert ledger.users() == ["u1"]
    assert [fact.id for fact in ledger.get(["fact-1", "fact-2"])] == ["fact-1"]
    line = Line(
        id="l1",
        user_id="u1",
        layer="top_of_mind",
        text="Tea.",
        origin="model",
        at=NOW,
        valid_from=NOW,
        fact_ids=("fact-1",),
    )
    assert ledger.lines("u1") == []
    assert ledger.apply([Write(line)]) == 1
    assert ledger.lines("u1") == [line]
    ledger.close()


def test_a_writer_that_had_to_wait_is_told(tmp_path):
    events = []
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3", events.append)
    ledger.apply([Add(make_fact(1))])
    assert events == []
    with ThreadPoolExecutor(1) as other:
        with ledger.exclusive():
            waiting = other.submit(ledger.apply, [Add(make_fact(2))])
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.05)
        assert waiting.result() == 1
    (event,) = events
    assert event.lock == "ledger"
    assert event.seconds > 0
    ledger.close()


def test_a_ledger_that_another_program_has_locked_is_tried_again_and_then_named(path):
    ledger = SqliteLedger(path)
    ledger._connections._writer.execute("PRAGMA busy_timeout = 1")
    intruder = sqlite3.connect(path, isolation_level=None)
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="another program has it locked"):
        ledger.apply([Add(make_fact(1))])
    begin = ledger._connections.transaction
    tries = []

    def gives_way():
        tries.append(1)
        if len(tries) == 3:
            intruder.execute("ROLLBACK")
        return begin()

    ledger._connections.transaction = gives_way
    assert ledger.apply([Add(make_fact(1))]) == 1
    assert len(tries) == 3
    assert ledger.revision() == 1
    intruder.close()
    ledger.close()


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda ledger: ledger.find("u1", FACTS, limit=32), "beliefs_by_time"),
        (lambda ledger: ledger.changed("u1", 0, 1, messages=False), "beliefs_by_change"),
        (lambda ledger: ledger.beliefs("u1", since=1), "beliefs_by_change"),
        (lambda ledger: ledger.replaced("fact-1", "u1"), "facts_replaced"),
    ],
)
def test_what_asks_for_facts_does_not_walk_through_messages(path, ask, index):
    ledger = SqliteLedger(path)
    asked = []
    with ledger._connections.snapshot() as db:
        db.set_trace_callback(asked.append)
    ask(ledger)
    with ledger._connections.snapshot() as db:
        db.set_trace_callback(None)
        (query,) = [one for one in asked if one.startswith("SELECT")]
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
    ledger.close()
    assert index in plan[0]
    assert "TEMP B-TREE" not in " ".join(plan) or index == "facts_replaced"
