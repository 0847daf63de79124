"""Facts that were read before."""

import sqlite3
from typing import Any, cast

import pytest

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import Add, Forget, Touch
from semantic_memory.domain.errors import StoreCorruptError
from semantic_memory.ledger.sql.rows import from_fact, to_fact
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.changes import ChangeWriter
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.kept import KeptFacts
from tests.conftest import NOW, make_fact


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def ledger(path):
    ledger = SqliteLedger(path)
    yield ledger
    ledger.close()


def test_what_a_reader_does_to_a_fact_reaches_no_other_reader(ledger):
    facts = [make_fact(1, metadata={"a": {"b": 1}}), make_fact(2)]
    ledger.apply([Add(fact) for fact in facts])
    ids = [fact.id for fact in facts]
    own, shared = (cast("dict[str, Any]", fact.metadata) for fact in ledger.get(ids))
    own["a"]["b"] = 2
    with pytest.raises(TypeError, match="frozen"):
        shared["a"] = 2
    assert [fact.metadata for fact in ledger.get(ids)] == [{"a": {"b": 1}}, {}]


@pytest.mark.parametrize("content", ["short", "long " * 1_000])
def test_a_change_is_read_though_the_fact_was_read_before(ledger, content):
    fact, other = make_fact(1, content=content), make_fact(2)
    ledger.apply([Add(fact), Add(other)])
    ledger.get([fact.id, other.id])
    ledger.apply([Touch(fact.id, confidence=0.25)])
    found = ledger.get([fact.id, other.id])
    assert [one.confidence for one in found] == [0.25, other.confidence]
    ledger.apply([Forget(fact.id, NOW)])
    assert [one.id for one in ledger.get([fact.id, other.id])] == [other.id]


def test_a_change_by_another_process_is_read(ledger, path):
    facts = [make_fact(1), make_fact(2, user_id="u2")]
    ledger.apply([Add(fact) for fact in facts])
    assert ledger.get(["fact-1", "fact-2"]) == facts
    other = SqliteLedger(path)
    other.apply([Touch("fact-2", confidence=0.25)])
    other.close()
    assert [one.confidence for one in ledger.get(["fact-1", "fact-2"])] == [1.0, 0.25]


def test_a_reader_of_an_older_state_is_not_given_what_later_ones_read(path):
    connections = Connections(path, print, SystemDisk())
    writer, kept = ChangeWriter(connections), KeptFacts()
    writer.apply([Add(make_fact(1))])
    with connections.snapshot() as before:
        assert kept.read(before, ["fact-1"])["fact-1"].confidence == 1.0
        writer.apply([Touch("fact-1", confidence=0.25), Add(make_fact(2, user_id="u2"))])
        with connections.snapshot() as after:
            found = kept.read(after, ["fact-1", "fact-2"])
        assert [one.confidence for one in found.values()] == [0.25, 1.0]
        assert kept.read(before, ["fact-1", "fact-2"]) == {"fact-1": make_fact(1)}
    connections.close()


def test_changes_are_read_though_there_were_very_many(ledger):
    facts = [make_fact(number) for number in range(1_500)]
    ids = [fact.id for fact in facts]
    ledger.apply([Add(fact) for fact in facts])
    ledger.get(ids)
    ledger.apply([Touch(one, confidence=0.25) for one in ids])
    assert {fact.confidence for fact in ledger.get(ids)} == {0.25}


def test_a_fact_of_another_user_is_not_read_though_it_is_kept(ledger):
    fact = make_fact(1)
    ledger.apply([Add(fact)])
    assert ledger.get([fact.id], fact.user_id)
    assert not ledger.get([fact.id], "somebody-else")


@pytest.mark.parametrize("content", ["short", "long " * 1_000])
def test_a_fact_is_that_of_its_row(content):
    fact = make_fact(1, content=content, importance=0.1)
    edited = fact.model_copy(update={"importance": 0.9})
    for one in (fact, edited, fact):
        assert to_fact(from_fact(one)) == one


def test_a_damaged_row_is_refused_each_time(ledger, path):
    fact = make_fact(1)
    ledger.apply([Add(fact)])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE facts SET detail = '{'")
    db.close()
    for _ in range(2):
        with pytest.raises(StoreCorruptError):
            ledger.get([fact.id])


@pytest.mark.parametrize("column", ["category", "status"])
def test_a_damaged_name_is_refused_where_memories_are_ranked(ledger, path, column):
    fact = make_fact(1)
    ledger.apply([Add(fact)])
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE facts SET {column} = 'co~versation'")
    db.close()
    with pytest.raises(StoreCorruptError):
        ledger.traits([fact.id])
