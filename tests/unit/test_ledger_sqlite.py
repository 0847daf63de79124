"""Behaviour specific to the ledger on SQLite."""

import gzip
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Add, Touch, Write
from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.profile import Line
from semantic_memory.domain.retention import Periods, Unexpired
from semantic_memory.domain.text import stems
from semantic_memory.ledger.rules import searched_text
from semantic_memory.ledger.sql.beliefs import BeliefReader
from semantic_memory.ledger.sql.feeds import Feeds
from semantic_memory.ledger.sql.listing import ListingReader
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.rows import FactRow, from_fact
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.administration import Administration
from semantic_memory.ledger.sqlite.changes import ChangeWriter
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.facts import FactReader
from semantic_memory.ledger.sqlite.schema import MIGRATIONS, add_functions
from tests.conftest import NOW, make_fact
from tests.contract.conftest import vectors


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def connections(path):
    """For parts of a ledger whose database is looked into."""
    connections = Connections(path, print, SystemDisk())
    yield connections
    connections.close()


FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})


def test_commits_wait_for_the_disk(connections):
    with connections.transaction() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


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


class SmallDisk(SystemDisk):
    """A disk on which a database has so many pages."""

    pages = 1_000_000

    def connect(self, path):
        connection = super().connect(path)
        connection.execute(f"PRAGMA max_page_count = {self.pages}")
        return connection


def test_a_full_disk_is_said_and_loses_nothing(path):
    disk = SmallDisk()
    connections = Connections(path, print, disk)
    changes = ChangeWriter(connections)
    administration = Administration(connections)
    changes.apply([Add(make_fact(1))])
    with connections.transaction() as db:
        (disk.pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {disk.pages}")
    with pytest.raises(StoreUnavailableError, match="the disk is full"):
        changes.apply([Add(make_fact(2, content="x" * 500_000))])
    assert [fact.id for fact in ListingReader(connections).find("u1", Filters())] == ["fact-1"]
    with connections.transaction() as db:
        db.execute("PRAGMA max_page_count = 1000000")
    changes.apply([Add(make_fact(2))])
    assert administration.count() == 2
    assert administration.damage() == []
    connections.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_said(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(StoreUnavailableError, match="can't create"):
        SqliteLedger(tmp_path / "closed" / "ledger.sqlite3")


def test_everything_is_there_after_reopening(path):
    ledger = SqliteLedger(path)
    ledger.apply([Add(make_fact(), vectors())])
    ledger.set_meta("key", "value")
    ledger.close()
    again = SqliteLedger(path)
    assert again.get(["fact-1"]) == [make_fact()]
    assert again.revision("u1") == 1
    assert again.meta("key") == "value"
    assert again.users() == ["u1"]
    assert again.damage() == []
    again.close()


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


def test_the_owners_token_is_one_word_that_stemming_leaves_alone(connections):
    users = [f"user-{number}" for number in range(300)]
    ChangeWriter(connections).apply([Add(make_fact(n, user_id=u)) for n, u in enumerate(users)])
    with connections.snapshot() as db:
        for user in users:
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            assert db.execute(query, (f"owner : {owner_token(user)}",)).fetchone() == (1,)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_a_ledger_of_an_older_schema_is_brought_up_to_date(path, version):
    db = sqlite3.connect(path)
    add_functions(db)
    scripts = " ".join(MIGRATIONS[:version])
    db.executescript(f"BEGIN; {scripts} PRAGMA user_version = {version}; COMMIT;")
    present = {name for _, name, *_ in db.execute("PRAGMA table_info(facts)")}
    columns = [name for name in FactRow._fields if name in present]
    for number, status in enumerate([Status.ACTIVE, Status.FORGOTTEN, Status.ACTIVE], start=1):
        row = from_fact(make_fact(number, status=status))
        own = (value for name, value in row._asdict().items() if name in present)
        values = (*own, "added", "", 0, 0, number)
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
    assert ledger.get(["fact-1", "fact-2"]) == [make_fact(1)]
    assert ledger.expired("u1", Unexpired(NOW, Periods())) == []
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


WRITTEN_BEFORE = Path(__file__).parents[1] / "support/ledger-14.sqlite3.gz"
"""A ledger that was written when revisions were numbers of all users."""


@pytest.fixture
def written_before(path):
    path.write_bytes(gzip.decompress(WRITTEN_BEFORE.read_bytes()))
    ledger = SqliteLedger(path)
    yield ledger
    ledger.close()


def test_revisions_of_all_users_become_those_of_each(written_before, path):
    ledger = written_before
    assert [ledger.revision(user) for user in ("u1", "u2")] == [9, 10]
    assert [(one.user_id, one.revision, one.seen) for one in ledger.pending("dedup")] == [
        ("u1", 9, 5),
        ("u2", 10, 4),
    ]
    assert ledger.outbox(9).changes == 10
    assert sorted(ledger.unindexed(9)) == ["fact-0", "fact-1", "fact-2"]
    assert ledger.held() == (3, 6)
    assert {row.trait.id for row in ledger.delta("u1", 5).rows} == {"fact-2"}
    first = ledger.page("u1", Filters(), order="confidence", limit=1)
    ledger.apply([Touch("fact-4", confidence=0.1), Touch("fact-5", confidence=0.2)])
    rest = ledger.page("u1", Filters(), order="confidence", behind=first.next)
    assert [fact.id for fact in (*first.facts, *rest.facts)] == ["fact-4", "fact-2"]
    ledger.apply([Add(make_fact(7, user_id="u3"), vectors(7))])
    assert [ledger.revision(user) for user in ("u1", "u2", "u3")] == [10, 11, 1]
    assert ledger.outbox(9).changes == 13
    assert ledger.damage() == []
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()


def test_memories_of_before_get_their_stems(written_before):
    (row,) = written_before.traits(["fact-4"])
    assert sorted(row.stems) == sorted(stems(searched_text(*written_before.get(["fact-4"]))))
    assert row.stems


def test_a_mark_beyond_its_user_hides_no_later_change(path):
    path.write_bytes(gzip.decompress(WRITTEN_BEFORE.read_bytes()))
    with sqlite3.connect(path) as db:  # u1 was settled without an effect after u2's latest change
        db.execute("UPDATE marks SET revision = 10 WHERE job = 'dedup' AND user_id = 'u1'")
    db.close()
    ledger = SqliteLedger(path)
    assert ledger.pending("dedup", "u1") == []
    ledger.apply([Touch("fact-4", confidence=0.1)])
    assert [(one.revision, one.seen) for one in ledger.pending("dedup", "u1")] == [(10, 9)]
    ledger.close()


@pytest.mark.parametrize(
    ("kept", "state", "lacked"),
    [
        ({}, None, 6),
        ({"index": " 0"}, "chroma  0", 6),
        ({"index": "generation 9", "given index": "other 3"}, "chroma generation 9", 0),
        ({"given index": "other 8"}, "given other 8", 1),
    ],
)
def test_an_index_of_before_goes_on_where_it_was(path, kept, state, lacked):
    path.write_bytes(gzip.decompress(WRITTEN_BEFORE.read_bytes()))
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM meta WHERE key LIKE '%index'")
        db.executemany("INSERT INTO meta VALUES (?, ?)", kept.items())
    db.close()
    ledger = SqliteLedger(path)
    assert (ledger.meta("index"), ledger.meta("given index")) == (state, None)
    assert ledger.count_unindexed() == lacked
    ledger.close()


def test_a_ledger_that_another_program_has_locked_is_tried_again_and_then_named(path):
    intruder = sqlite3.connect(path, isolation_level=None)
    tries = []

    class Obstructed(Connections):
        def transaction(self):
            tries.append(1)
            if len(tries) == 6:
                intruder.execute("ROLLBACK")
            return super().transaction()

    connections = Obstructed(path, print, SystemDisk())
    changes = ChangeWriter(connections)
    with connections.transaction() as db:
        db.execute("PRAGMA busy_timeout = 1")
    intruder.execute("BEGIN IMMEDIATE")
    tries.clear()
    with pytest.raises(StoreUnavailableError, match="another program has it locked"):
        changes.apply([Add(make_fact(1))])
    assert len(tries) == 3
    assert changes.apply([Add(make_fact(1))]) == 1
    assert len(tries) == 6
    assert changes.revision("u1") == 1
    intruder.close()
    connections.close()


@pytest.mark.parametrize(
    ("part", "ask", "index"),
    [
        (ListingReader, lambda facts: facts.find("u1", FACTS, limit=32), "beliefs_by_time"),
        (FactReader, lambda facts: facts.replaced("fact-1", "u1"), "facts_replaced"),
        (Feeds, lambda feeds: feeds.changed("u1", 0, 1), "beliefs_by_change"),
        (
            FactReader,
            lambda facts: facts.expired("u1", Unexpired(NOW, Periods())),
            "facts_expiring",
        ),
        (BeliefReader, lambda beliefs: beliefs.beliefs("u1", since=1), "beliefs_by_change"),
    ],
)
def test_what_asks_for_facts_does_not_walk_through_messages(connections, part, ask, index):
    reader = part(connections)
    asked: list[str] = []
    with connections.snapshot() as db:
        db.set_trace_callback(asked.append)
    ask(reader)
    with connections.snapshot() as db:
        db.set_trace_callback(None)
        (query,) = [one for one in asked if one.startswith("SELECT")]
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert index in plan[0]
    assert "TEMP B-TREE" not in " ".join(plan) or index in ("facts_replaced", "facts_expiring")
