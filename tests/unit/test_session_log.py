import json
import os
import stat
import threading
import time

import pytest

from ingest.log_line import LineFormat
from ingest.session_log import FileSessionLog, Patience
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import LogRepaired, WriteDelayed
from semantic_memory.domain.messages import SessionKey
from tests.conftest import say
from tests.support.logs import contents


@pytest.fixture
def reopened(tmp_path, events):
    """Return a function that opens the log again."""
    return lambda: FileSessionLog(tmp_path / "sessions", events.append, SystemDisk())


@pytest.fixture
def log(reopened):
    return reopened()


def test_no_identifier_reaches_a_path(log, tmp_path):
    log.append("..", "a@b:c", say("One"))
    (path, size), *rest = log.files()
    assert rest == []
    assert log.path("..", "a@b:c") == path
    assert path.parent.parent == tmp_path / "sessions"
    assert size == path.stat().st_size
    assert log.identify(path) == SessionKey("..", "a@b:c")


def test_files_are_private(log):
    log.append("u1", "s1", say("One"))
    ((path, _),) = log.files()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_is_cut_off_and_said(log, reopened, events, cut):
    log.append("u1", "s1", say("One", "Two"))
    path = log.path("u1", "s1")
    os.truncate(path, path.stat().st_size - cut)
    again = reopened()
    assert contents(again) == ["One"]
    assert again.append("u1", "s1", say("Two again", start=2)) == 1
    assert contents(again) == ["One", "Two again"]
    assert [event.torn_bytes > 0 for event in events if isinstance(event, LogRepaired)] == [True]


def test_a_file_torn_in_its_first_line_starts_over(log, reopened):
    log.append("u1", "s1", say("One"))
    os.truncate(log.path("u1", "s1"), 10)
    again = reopened()
    again.append("u1", "s1", say("Two"))
    assert contents(again) == ["Two"]
    assert again.identify(log.path("u1", "s1")) == SessionKey("u1", "s1")


def test_a_log_without_its_beginning_is_named_by_the_next_append(log, reopened, events):
    log.append("u1", "s1", say("One", "Two", "Three"))
    path = log.path("u1", "s1")
    whole = path.read_bytes()
    path.write_bytes(bytes(512) + whole[512:])  # its first sector never reached the disk
    again = reopened()
    assert again.identify(path) is None
    again.append("u1", "s1", say("Four", start=4))
    assert again.identify(path) == SessionKey("u1", "s1")
    assert contents(again)[-1] == "Four"
    last = reopened()
    last.append("u1", "s1", say("Five", start=5))
    assert contents(last)[-2:] == ["Four", "Five"]


def test_reading_a_log_that_got_shorter_ends(log):
    log.append("u1", "s1", say("One", "Two"))
    path = log.path("u1", "s1")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert contents(log) == ["One"]


def test_a_removed_log_leaves_no_draft(log):
    log.append("u1", "s1", say("One"))
    path = log.path("u1", "s1")
    path.with_suffix(".new").write_bytes(b"One")
    log.remove("u1", "s1")
    assert not list(path.parent.iterdir())


def test_one_flipped_bit_is_noticed(log):
    log.append("u1", "s1", say("One"))
    path = log.path("u1", "s1")
    path.write_bytes(path.read_bytes().replace(b"One", b"Onf"))
    assert contents(log) == []


def test_a_newer_schema_is_refused(log):
    log.append("u1", "s1", say("One"))
    path = log.path("u1", "s1")
    import zlib

    body = json.dumps({"v": 99, "kind": "message", "data": {}})[1:].encode()
    path.write_bytes(b'{"crc":"%08x",%b\n' % (zlib.crc32(body), body))
    with pytest.raises(SchemaTooNewError, match="schema 99"):
        contents(log)


def test_a_disk_that_refuses_loses_nothing_before(log, reopened, monkeypatch):
    log.append("u1", "s1", say("One"))
    size = log.path("u1", "s1").stat().st_size
    write = os.write

    def half(descriptor: int, data: memoryview) -> int:
        write(descriptor, bytes(data)[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(
        StoreUnavailableError,
        match="No space left on device, after 3 attempts; nothing of this call",
    ):
        log.append("u1", "s1", say("Two", start=2))
    monkeypatch.undo()
    assert log.path("u1", "s1").stat().st_size == size
    assert log.append("u1", "s1", say("Two", start=2)) == 1
    assert contents(reopened()) == ["One", "Two"]


@pytest.mark.parametrize(("failures", "taken"), [(1, True), (2, True), (3, False)])
def test_a_disk_is_asked_three_times(log, reopened, monkeypatch, failures, taken):
    log.append("u1", "s1", say("One"))
    fsync, asked = os.fsync, []

    def moody(descriptor: int) -> None:
        asked.append(descriptor)
        if len(asked) <= failures:
            raise OSError(5, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", moody)
    if taken:
        assert log.append("u1", "s1", say("Two", start=2)) == 1
    else:
        with pytest.raises(StoreUnavailableError, match="Input/output error"):
            log.append("u1", "s1", say("Two", start=2))
    monkeypatch.undo()
    assert len(asked) == min(3, failures + 1)
    assert contents(reopened()) == (["One", "Two"] if taken else ["One"])


def failing_until(monkeypatch, end: float) -> None:
    """Have the disk fail until `end`, a time of `time.monotonic`."""
    fsync = os.fsync

    def moody(descriptor: int) -> None:
        if time.monotonic() < end:
            raise OSError(5, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", moody)


def test_messages_are_held_in_ram_while_the_disk_fails_for_a_short_time(
    tmp_path, events, monkeypatch
):
    log = FileSessionLog(
        tmp_path / "sessions", events.append, SystemDisk(), None, Patience(10.0, 10_000)
    )
    log.append("u1", "s1", say("One"))
    failing_until(monkeypatch, time.monotonic() + 0.3)
    assert log.append("u1", "s1", say("Two", start=2)) == 1
    assert contents(log) == ["One", "Two"]
    (delayed,) = [event for event in events if isinstance(event, WriteDelayed)]
    assert delayed.attempts > 3
    assert delayed.seconds >= 0.3


def test_a_disk_that_fails_for_longer_is_an_error_and_nothing_is_kept(
    tmp_path, events, monkeypatch
):
    log = FileSessionLog(
        tmp_path / "sessions", events.append, SystemDisk(), None, Patience(0.3, 10_000)
    )
    log.append("u1", "s1", say("One"))
    failing_until(monkeypatch, time.monotonic() + 60)
    with pytest.raises(StoreUnavailableError, match="nothing of this call was kept"):
        log.append("u1", "s1", say("Two", start=2))
    monkeypatch.undo()
    assert contents(log) == ["One"]


def test_more_than_the_bound_is_not_held(tmp_path, events, monkeypatch):
    log = FileSessionLog(
        tmp_path / "sessions", events.append, SystemDisk(), None, Patience(60.0, 1_000)
    )
    log.append("u1", "s1", say("One"))
    failing_until(monkeypatch, time.monotonic() + 60)
    with pytest.raises(StoreUnavailableError, match="after 3 attempts"):
        log.append("u1", "s1", say("x" * 2_000, start=2))


def test_what_the_disk_has_not_confirmed_is_not_read(log, monkeypatch):
    log.append("u1", "s1", say("One"))
    fsync, seen, readers = os.fsync, [], []

    def read_meanwhile(descriptor: int) -> None:
        path = log.path("u1", "s1")
        seen.append(path.stat().st_size)
        reader = threading.Thread(target=lambda: seen.append(contents(log)))
        reader.start()
        readers.append(reader)
        reader.join(timeout=0.2)
        assert reader.is_alive() or seen[-1] == ["One"]
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", read_meanwhile)
    log.append("u1", "s1", say("Two", start=2))
    monkeypatch.undo()
    for reader in readers:
        reader.join()
    assert seen[0] > 0
    assert contents(log) == ["One", "Two"]


def test_a_failed_append_leaves_nothing_behind_that_is_read(log, monkeypatch):
    log.append("u1", "s1", say("One"))

    def refuse(*_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "ftruncate", refuse)  # so that the complete line stays in the file
    with pytest.raises(StoreUnavailableError):
        log.append("u1", "s1", say("Two", start=2))
    monkeypatch.undo()
    # Sent again, as the error asks: taken once, whatever the disk made of the first attempt.
    log.append("u1", "s1", say("Two", start=2))
    assert contents(log) == ["One", "Two"]


def test_an_unreadable_file_is_a_clear_error(log, reopened, monkeypatch):
    log.append("u1", "s1", say("One"))
    path = log.path("u1", "s1")
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreUnavailableError, match="check its permissions"):
        contents(reopened())


def test_what_is_appended_rewritten_or_cut_off_keeps_the_chain(tmp_path, events):
    log = FileSessionLog(tmp_path, events.append, SystemDisk())
    path = log.path("u1", "s1")
    for number in range(1, 6):
        log = FileSessionLog(tmp_path, events.append, SystemDisk())  # opened again
        log.append("u1", "s1", say(f"Text {number}", start=number))
    log.compact("u1", "s1", {"m2"}, {"m3": "Text"})
    with path.open("ab") as file:
        file.write(b'{"crc":"0000')  # torn
    log = FileSessionLog(tmp_path, events.append, SystemDisk())
    log.append("u1", "s1", say("Text 6", start=6))
    assert log.corrupt_lines("u1", "s1") == log.summary("u1", "s1").corrupt_lines == 0
    assert log.erased("u1", "s1") == {"m2": None, "m3": "Text"}
    assert not any(getattr(event, "corrupt_lines", 0) for event in events)


def test_logs_without_a_chain_are_read(tmp_path, events, monkeypatch):
    log = FileSessionLog(tmp_path, events.append, SystemDisk())
    with monkeypatch.context() as patch:
        write = LineFormat.write
        patch.setattr(LineFormat, "write", lambda self, kind, data, _: write(self, kind, data, b""))
        log.append("u1", "s1", say("One", "Two", "Three"))
    FileSessionLog(tmp_path, events.append, SystemDisk()).append("u1", "s1", say("Four", start=4))
    path = log.path("u1", "s1")
    assert b'"after"' not in path.read_bytes().splitlines()[2]
    assert b'"after"' in path.read_bytes().splitlines()[4]
    assert log.corrupt_lines("u1", "s1") == 0
