"""Contract of the saved states of windows and tasks, in files and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import SchemaTooNewError
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports.states import CopiedStates, Saved
from semantic_memory.session.state_files import StateFiles
from tests.support import postgres

Open = Callable[[], CopiedStates]
ONE, OTHER, ANOTHERS = SessionKey("u1", "s1"), SessionKey("u1", "s2"), SessionKey("u2", "s1")
STATE = Saved(1, {"step": "fetch ü\x00\ud800", "done": [1, 2], "ratio": 1 / 3, "none": None})


@pytest.fixture(params=["files", "postgres"])
def open_states(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens the same states again, as another process does."""
    if request.param == "files":
        yield lambda: StateFiles(tmp_path, ignore_event, SystemDisk())
        return
    postgres.require()
    from semantic_memory.ledger.postgres.connections import Connections
    from semantic_memory.ledger.postgres.states import PostgresStates

    url = request.getfixturevalue("postgres_server").emptied("contract")
    both = [Connections(url, ignore_event) for _ in range(2)]
    lent = iter(both)
    yield lambda: PostgresStates(next(lent))
    for connections in both:
        connections.close()


def test_what_one_process_saves_another_loads(open_states: Open) -> None:
    states, others = open_states(), open_states()
    assert states.window(ONE).load() is None
    state = STATE if not isinstance(states, StateFiles) else Saved(1, {"step": "fetch ü"})
    states.window(ONE).save(state)
    states.task(ONE, "a/b\x00").save(Saved(2, {"step": "two"}))
    assert others.window(ONE).load() == state
    assert others.task(ONE, "a/b\x00").load() == Saved(2, {"step": "two"})
    assert [others.window(key).load() for key in (OTHER, ANOTHERS)] == [None, None]
    others.window(ONE).save(Saved(1, {"step": "next"}))
    assert states.window(ONE).load() == Saved(1, {"step": "next"})


def test_a_newer_state_stays(open_states: Open) -> None:
    place = open_states().task(ONE, "trip")
    place.save(Saved(2, {"step": "new"}))
    with pytest.raises(SchemaTooNewError):
        place.save(Saved(1, {"step": "old"}))
    assert place.load() == Saved(2, {"step": "new"})
    place.clear()
    place.save(Saved(1, {"step": "old"}))
    assert place.load() == Saved(1, {"step": "old"})


def test_states_are_dropped_by_window_session_and_user(open_states: Open) -> None:
    states = open_states()
    for key in (ONE, OTHER, ANOTHERS):
        states.window(key).save(Saved(1, {}))
        states.task(key, "trip").save(Saved(1, {}))
    states.drop_window(ONE)
    assert (states.window(ONE).load(), states.task(ONE, "trip").load()) == (None, Saved(1, {}))
    states.drop(*ONE)
    assert states.task(ONE, "trip").load() is None
    assert states.window(OTHER).load() is not None
    states.drop("u1")
    assert states.task(OTHER, "trip").load() is None
    assert states.window(ANOTHERS).load() is not None
    states.drop("u3")


def test_states_are_copied_under_their_names(open_states: Open, tmp_path: Path) -> None:
    states = open_states()
    states.window(ONE).save(Saved(1, {"position": 3}))
    for step in ("one", "two"):  # the file before is kept beside the present one
        states.task(ONE, "trip").save(Saved(4, {"step": step}))
    copies = StateFiles(tmp_path / "copies", ignore_event, SystemDisk())
    for name, state in states.saved(ONE):
        copies.restore(ONE, name, state)
    assert copies.window(ONE).load() == Saved(1, {"position": 3})
    assert copies.task(ONE, "trip").load() == Saved(4, {"step": "two"})
    assert sorted(copies.saved(ONE)) == sorted(states.saved(ONE))
    assert list(states.saved(OTHER)) == []


def test_a_state_that_was_being_replaced_is_copied_too(tmp_path: Path) -> None:
    states = StateFiles(tmp_path, ignore_event, SystemDisk())
    for step in ("one", "two"):
        states.task(ONE, "trip").save(Saved(1, {"step": step}))
    (present,) = (path for path in tmp_path.rglob("*.json") if "previous" not in path.name)
    present.unlink()
    assert [state for _, state in states.saved(ONE)] == [Saved(1, {"step": "one"})]


def test_sessions_with_states_are_named_or_counted(open_states: Open) -> None:
    states = open_states()
    for key in (ONE, OTHER, ANOTHERS):
        states.task(key, "trip").save(Saved(1, {}))
    named = set(states.sessions())
    assert states.unnamed({ONE, *named}) == (0 if named else 2)
    assert states.unnamed([ONE, OTHER, ANOTHERS]) == 0
