"""A statement dated ahead of the clock is refused: it would win over all that is said later."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from semantic_memory.application.importing import import_file
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.messages import Message
from tests.conftest import NOW

U = {"user_id": "u1"}
AHEAD = timedelta(days=1, minutes=1)
WITHIN = timedelta(hours=23)


def test_a_fact_dated_ahead_is_refused(memory, clock):
    with pytest.raises(InvalidInputError, match=r"add: created_at .* more than a day ahead"):
        memory.add("Lives in Oslo", created_at=clock.now() + AHEAD, **U)
    assert memory.add("Lives in Oslo", created_at=clock.now() + WITHIN, **U).status == "active"


def test_one_item_dated_ahead_is_named_and_nothing_is_added(memory, clock):
    items = [{"content": "a"}, {"content": "b", "created_at": clock.now() + AHEAD}]
    with pytest.raises(InvalidInputError, match=r"item 2: created_at .* more than a day ahead"):
        memory.transfer.add_many(items, **U)
    assert memory.list(**U) == []


def test_a_message_dated_ahead_is_refused_with_those_beside_it(memory, clock):
    said = [
        Message(role="user", content="hello", created_at=clock.now()),
        Message(role="user", content="I live in Oslo", created_at=clock.now() + AHEAD),
    ]
    with pytest.raises(
        InvalidInputError, match=r"messages\.1: created_at .* more than a day ahead"
    ):
        memory.observe(said, session_id="s", **U)
    memory.flush()
    assert memory.list(**U) == []
    late = Message(role="user", content="I live in Oslo", created_at=clock.now() + WITHIN)
    assert memory.observe([late], session_id="s", **U).accepted == 1


def test_an_imported_message_dated_ahead_gets_the_time_of_the_import(memory, clock, tmp_path):
    file = tmp_path / "chat.jsonl"
    rows = [
        {"session_id": "s", "role": "user", "content": "one", "created_at": "9999-01-01T00:00:00Z"},
        {"session_id": "s", "role": "user", "content": "two", "created_at": "2020-01-01T00:00:00Z"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    imported = import_file(memory, file, form="jsonl", user_id="u1", now=clock.now())
    assert (imported.accepted, imported.ahead, imported.rejected) == (2, 1, 0)
    memory.flush()
    assert {fact.content: fact.created_at.year for fact in memory.list(**U)} == {
        "one": NOW.year,
        "two": 2020,
    }


def test_loaded_records_dated_ahead_get_the_time_of_the_loading(memory, clock):
    fact = memory.add("Lives in Oslo", **U)
    records = [
        {**record, "fact": {**record["fact"], "created_at": "9999-01-01T00:00:00Z"}}
        if record["kind"] == "fact"
        else record
        for record in memory.transfer.export(**U)
    ]
    memory.transfer.load(records, user_id="u2")
    (loaded,) = memory.list(user_id="u2")
    assert (loaded.content, loaded.created_at) == (fact.content, clock.now())


def test_what_was_said_under_a_wrong_clock_does_not_win_over_what_is_said_later(memory, clock):
    clock.advance(days=900)
    memory.add("Maya lives in Berlin.", **U)
    memory.flush()
    clock.advance(days=-900)
    memory.add("Maya lives in Rome.", **U)
    memory.flush()
    (home,) = memory.list(**U)
    assert home.content == "Maya lives in Rome."
    (old,) = memory.list(status="superseded", **U)
    assert old.created_at == clock.now() + timedelta(days=900)


def test_the_doctor_reports_dates_ahead_of_the_clock(memory, clock):
    (sound,) = [one for one in memory.admin.check() if one.check == "dates"]
    assert sound.ok
    clock.advance(days=900)
    memory.add("Maya lives in Berlin.", **U)
    clock.advance(days=-900)
    (found,) = [one for one in memory.admin.check() if one.check == "dates"]
    assert not found.ok
    assert found.detail.startswith("1 memories of 1 users")
