"""The contract of session logs, in files and in a database, in plain text and encrypted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.encryption import Cipher, new_key
from semantic_memory.domain.changes import Advance
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.events import CursorLost, Event, LogRepaired
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import SessionLog
from tests.conftest import NOW, say
from tests.support import postgres
from tests.support.logs import Database, Files, Place, behind, contents

KEY = SessionKey("u1", "s1")
CIPHER = Cipher([new_key()])


@pytest.fixture(params=["files", "encrypted files", "postgres", "encrypted postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, events: list[Event]) -> Iterator[Place]:
    cipher = CIPHER if request.param.startswith("encrypted") else None
    with ExitStack() as opened:
        if request.param.endswith("files"):
            yield Files(tmp_path, events.append, cipher, opened)
        else:
            postgres.require()
            server: postgres.Server = request.getfixturevalue("postgres_server")
            yield Database(server.emptied("logs"), events.append, cipher, opened)


@pytest.fixture
def log(place: Place) -> SessionLog:
    return place.log


def other(place: Place) -> SessionLog:
    """The log as another process has it at the same time; the same where there can't be one."""
    return place.again() if place.log.shared else place.log


def without(number: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [b"" if place == number else line for place, line in enumerate(lines)]


# ---------------------------------------------------------------- appending and reading


def test_messages_come_back_in_order_as_they_went_in(log: SessionLog, place: Place) -> None:
    messages = say("One", "Zwei ü\nlines", "三", name="Maya", created_at=NOW, metadata={"a": [1]})
    assert log.append(*KEY, messages) == 3
    assert [record.message for record in place.again().read(*KEY)] == messages
    assert [record.position for record in log.read(*KEY)] == [0, 1, 2]
    assert contents(log, "u1", "s2") == contents(log, "u2", "s1") == []


def test_reading_goes_on_from_any_record(log: SessionLog, events: list[Event]) -> None:
    log.append(*KEY, say("One", "Two", "Three"))
    first, *_ = log.read(*KEY)
    rest = list(log.read(*KEY, behind(first)))
    assert [(record.position, record.message.content) for record in rest] == [
        (1, "Two"),
        (2, "Three"),
    ]
    log.append(*KEY, say("Four", start=4))
    (new,) = log.read(*KEY, behind(rest[-1]))
    assert (new.position, new.message.content) == (3, "Four")
    assert events == []


def test_offsets_follow_each_other_up_to_the_size(log: SessionLog) -> None:
    for number in range(1, 5):
        log.append(*KEY, say(f"Text {number}", start=number))
    records = list(log.read(*KEY))
    assert [record.start for record in records[1:]] == [record.end for record in records[:-1]]
    assert records[-1].end == log.size(*KEY)
    assert log.size("u1", "s2") == 0


def test_a_long_log_is_read_to_its_end(log: SessionLog, events: list[Event]) -> None:
    said = [f"Text {number}" for number in range(1, 301)]
    log.append(*KEY, say(*said))
    assert contents(log) == said
    assert events == []


def test_a_message_is_taken_once(log: SessionLog, place: Place) -> None:
    assert log.append(*KEY, say("One", "Two")) == 2
    assert log.append(*KEY, say("One", "Two", "Three")) == 1
    assert place.again().append(*KEY, say("Three", start=3)) == 0
    assert log.append(*KEY, []) == 0
    assert contents(log) == ["One", "Two", "Three"]


def test_an_id_can_not_name_two_messages_of_a_session(log: SessionLog) -> None:
    log.append(*KEY, say("One"))
    with pytest.raises(InvalidInputError, match="'m1' already names another message"):
        log.append(*KEY, [*say("New", start=2), *say("Other")])
    with pytest.raises(InvalidInputError, match="'m2' already names another message"):
        log.append(*KEY, [*say("New", start=2), *say("Other", start=2)])
    assert contents(log) == ["One"]
    assert log.append("u1", "s2", say("Other")) == 1


def test_two_writers_append_to_one_session_without_loss(place: Place, events: list[Event]) -> None:
    both = place.log, other(place)

    def work(number: int) -> int:
        log, taken = both[number % 2], 0
        for step in range(10):
            taken += log.append(*KEY, say(f"{number} {step}", start=100 * number + step))
            taken += log.append(*KEY, say(f"Of all {step}", start=1_000 + step))
        return taken

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(work, range(4))) == 50
    found = contents(place.again())
    assert len(found) == len(set(found)) == 50
    assert place.log.summary(*KEY).corrupt_lines == 0
    assert events == []


def test_another_reader_finds_a_message_at_once(place: Place) -> None:
    again = other(place)
    place.log.append(*KEY, say("One"))
    assert contents(again) == ["One"]
    again.append(*KEY, say("Two", start=2))
    assert contents(place.log) == ["One", "Two"]


@pytest.mark.parametrize("lost", [{"offset": 10_000}, {"offset": 7}, {"message_id": "another"}])
def test_a_cursor_of_another_log_reads_everything_again_and_says_so(
    log: SessionLog, events: list[Event], lost: dict[str, Any]
) -> None:
    log.append(*KEY, say("One", "Two"))
    first, *_ = log.read(*KEY)
    cursor = replace(behind(first), **lost)
    assert [record.position for record in log.read(*KEY, cursor)] == [0, 1]
    assert events == [CursorLost(*KEY, "stored")]


# ---------------------------------------------------------------- what is behind


def test_sessions_beyond_their_cursor_are_behind(place: Place) -> None:
    log, ledger = place.log, place.ledger

    def found() -> set[SessionKey]:
        return set(place.log.behind(lambda: ledger.cursors("stored")))

    log.append(*KEY, say("One", "Two"))
    log.append("u2", "s2", say("Three"))
    assert found() == {KEY, SessionKey("u2", "s2")}
    records = list(log.read(*KEY))
    ledger.apply([Advance(behind(records[-1]))])
    assert found() == {SessionKey("u2", "s2")}
    log.append(*KEY, say("Four", start=4))
    assert found() == {KEY, SessionKey("u2", "s2")}
    log.remove("u2", "s2")
    assert found() == {KEY}


def test_a_rewritten_log_whose_cursor_moved_along_is_not_behind(place: Place) -> None:
    log, ledger = place.log, place.ledger
    log.append(*KEY, say("One", "Two"))
    last = list(log.read(*KEY))[-1]
    ledger.apply([Advance(behind(last))])
    offsets = log.compact(*KEY, {"m1"}).offsets
    ledger.apply([Advance(replace(behind(last), offset=offsets[2]))])
    assert list(log.behind(lambda: ledger.cursors("stored"))) == []


# ---------------------------------------------------------------- rewriting and removing


def test_a_rewritten_log_keeps_ids_and_positions_and_no_text(
    place: Place, log: SessionLog, events: list[Event]
) -> None:
    log.append(*KEY, say("One", "Two", "Three. Four."))
    before, size = log.generation(*KEY), log.size(*KEY)
    freed, offsets = log.compact(*KEY, {"m2"}, {"m3": "Three."})
    assert log.generation(*KEY) != before
    assert log.size(*KEY) == size - freed == offsets[3]
    records = list(log.read(*KEY))
    assert [(record.position, record.message.content) for record in records] == [
        (0, "One"),
        (2, "Three."),
    ]
    assert [record.end for record in records] == [offsets[1], offsets[3]]
    assert log.ids(*KEY) == {"m1", "m2", "m3"}
    assert log.erased(*KEY) == {"m2": None, "m3": "Three."}
    assert b"Two" not in place.content()
    assert b"Four" not in place.content()
    assert log.append(*KEY, say("One", "Two", "Three. Four.", "Five")) == 1
    assert contents(place.again()) == ["One", "Three.", "Five"]
    assert log.summary(*KEY) == (KEY, 3, 0, 0)
    assert events == []


def test_what_made_room_is_not_told_as_forgotten(log: SessionLog) -> None:
    log.append(*KEY, say("One", "A longer text that is not needed any more" * 9))
    _, second = log.read(*KEY)
    freed = log.freed(second)
    assert log.compact(*KEY, {"m2"}, forgotten=False).freed == freed > 0
    assert log.erased(*KEY) == {}
    assert log.append(*KEY, say("Something else", start=2)) == 0


def test_a_forgotten_message_stays_one_when_room_is_made_meanwhile(log: SessionLog) -> None:
    log.append(*KEY, say("One", "Two", "Three"))
    log.compact(*KEY, {"m2"})
    log.compact(*KEY, {"m1", "m2"}, forgotten=False)  # as it was planned before
    assert log.erased(*KEY) == {"m2": None}


def test_a_cursor_of_before_a_rewriting_is_lost(log: SessionLog, events: list[Event]) -> None:
    log.append(*KEY, say("One is a text of some length", "Two", "Three"))
    _, second, _ = log.read(*KEY)
    _, offsets = log.compact(*KEY, {"m1"})
    assert [record.position for record in log.read(*KEY, behind(second))] == [1, 2]
    assert events == [CursorLost(*KEY, "stored")]
    moved = replace(behind(second), offset=offsets[2])
    assert [record.position for record in log.read(*KEY, moved)] == [2]


def test_a_removed_log_leaves_nothing_and_begins_anew(place: Place, log: SessionLog) -> None:
    assert log.is_new
    log.append(*KEY, say("One"))
    generation, size = log.generation(*KEY), log.size(*KEY)
    assert log.remove(*KEY) == size > 0
    assert log.remove(*KEY) == log.size(*KEY) == 0
    assert log.generation(*KEY) != generation
    assert contents(log) == []
    assert list(log.sessions()) == []
    assert not place.again().is_new
    assert log.append(*KEY, say("Another text")) == 1
    assert log.generation(*KEY) != generation
    assert contents(log) == ["Another text"]


def test_a_reader_whose_log_is_rewritten_meanwhile_ends(place: Place, events: list[Event]) -> None:
    place.log.append(*KEY, say(*(f"Text {number}" for number in range(1, 301))))
    records = place.log.read(*KEY)
    first = next(records)
    other(place).compact(*KEY, {"m2", "m299"})
    found = [first, *records]
    assert {record.position for record in found} >= set(range(300)) - {1, 298}
    assert events == []


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("spoilt", [b"\xff\xfe rubbish\n", b'{"crc":"00000000","v":1}\n', b"\n"])
def test_a_corrupt_line_is_skipped_and_counted_and_moves_no_place(
    place: Place, events: list[Event], spoilt: bytes
) -> None:
    place.log.append(*KEY, say("One", "Two", "Three"))
    place.edit(lambda lines: [lines[0], spoilt, *lines[2:]])
    again = place.again()
    records = list(again.read(*KEY))
    assert [(record.position, record.message.content) for record in records] == [
        (0, "One"),
        (2, "Three"),
    ]
    assert events[-1] == LogRepaired(*KEY, torn_bytes=0, corrupt_lines=1)
    assert list(again.summaries()) == [again.summary(*KEY)] == [(KEY, 2, 1, 0)]
    assert again.corrupt_lines(*KEY) == 1
    assert again.tally() == (1, again.size(*KEY), 1)
    assert again.append(*KEY, say("One", "Two", "Three")) == 1  # the lost one, observed again
    assert contents(again) == ["One", "Three", "Two"]
    assert again.append(*KEY, say("One", "Two", "Three")) == 0


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_line_taken_out_is_missed(place: Place, events: list[Event], taken: int) -> None:
    place.log.append(*KEY, say("One", "Two"))
    place.log.append(*KEY, say("Three", "Four", start=3))
    assert place.log.summary(*KEY).corrupt_lines == place.log.corrupt_lines(*KEY) == 0
    place.edit(without(taken))
    again = place.again()
    assert len(list(again.read(*KEY))) == 3
    assert [event.corrupt_lines for event in events if isinstance(event, LogRepaired)]
    assert again.summary(*KEY).corrupt_lines == again.corrupt_lines(*KEY) == 1


def test_a_damaged_line_outlives_a_rewriting(place: Place) -> None:
    place.log.append(*KEY, say("One", "Two", "Three"))
    place.edit(lambda lines: [lines[0], b"rubbish\n", *lines[2:]])
    again = place.again()
    again.compact(*KEY, {"m1"})
    assert b"rubbish" in place.content()
    assert contents(again) == ["Three"]
    assert again.summary(*KEY) == (KEY, 1, 1, 0)


# ---------------------------------------------------------------- all logs, and their form


def test_sessions_are_listed_and_counted(log: SessionLog) -> None:
    keys = {SessionKey(f"u{number % 3}", f"s{number}") for number in range(7)}
    for key in keys:
        log.append(*key, say("One", "Two"))
    assert set(log.sessions()) == {one.session for one in log.summaries()} == keys
    assert log.tally() == (7, sum(log.size(*key) for key in keys), 0)


def test_no_text_of_an_encrypted_log_can_be_read(
    place: Place, request: pytest.FixtureRequest
) -> None:
    place.log.append(*KEY, say("A secret"))
    line = json.loads(place.content().splitlines()[-1])
    encrypted = request.node.callspec.params["place"].startswith("encrypted")
    assert ("sealed" in line) == encrypted
    assert (b"secret" in place.content()) != encrypted


def test_reads_and_appends_at_once_see_whole_appends(place: Place) -> None:
    log, again, done = place.log, other(place), threading.Event()
    seen: list[int] = []

    def watch() -> None:
        while not done.is_set():
            seen.append(len(contents(again)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(20):
        log.append(*KEY, say("One", "Two", "Three", start=10 * number))
    done.set()
    watcher.join(60)
    assert {number % 3 for number in seen} <= {0}
