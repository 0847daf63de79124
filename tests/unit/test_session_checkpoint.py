import json
import stat

import pytest
from pydantic import BaseModel

from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import CheckpointRestored
from semantic_memory.session.checkpoint import Checkpoint


class Task(BaseModel):
    step: str
    done: frozenset[int] = frozenset()
    ratio: float = 0.1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tasks" / "task.json"


def checkpoint(path, events, **options) -> Checkpoint[Task]:
    return Checkpoint(path, Task, events.append, **options)


def test_a_state_comes_back_as_it_was(path, events):
    assert checkpoint(path, events).load() is None
    state = Task(step="fetch ü", done=frozenset({1, 2}), ratio=1 / 3)
    checkpoint(path, events).save(state)
    assert checkpoint(path, events).load() == state
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(file.name for file in path.parent.iterdir()) == ["task.json"]


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'{"schema": 1}', b"\xff\xfe", b"null"],
)
def test_a_damaged_state_gives_way_to_the_one_before_and_says_so(path, events, damage):
    kept = checkpoint(path, events)
    kept.save(Task(step="one"))
    kept.save(Task(step="two"))
    path.write_bytes(damage)
    assert checkpoint(path, events).load() == Task(step="one")
    (event,) = events
    assert isinstance(event, CheckpointRestored)
    assert path.with_name("task.damaged.json").read_bytes() == damage
    assert checkpoint(path, events).load() == Task(step="one")
    assert len(events) == 1


def test_a_flipped_bit_is_damage(path, events):
    kept = checkpoint(path, events)
    kept.save(Task(step="one"))
    kept.save(Task(step="two"))
    path.write_bytes(path.read_bytes().replace(b"two", b"twp"))
    assert checkpoint(path, events).load() == Task(step="one")


def test_a_damaged_state_is_never_kept_as_the_good_one(path, events):
    kept = checkpoint(path, events)
    kept.save(Task(step="one"))
    kept.save(Task(step="two"))
    path.write_bytes(b"{")
    checkpoint(path, events).save(Task(step="three"))
    path.write_bytes(b"{")
    assert checkpoint(path, events).load() == Task(step="one")


def test_with_nothing_good_left_the_error_names_the_file(path, events):
    checkpoint(path, events).save(Task(step="one"))
    path.write_bytes(b"{")
    with pytest.raises(StoreCorruptError, match=r"task\.json is damaged"):
        checkpoint(path, events).load()


def test_an_older_state_is_migrated_and_a_newer_one_refused(path, events):
    checkpoint(path, events).save(Task(step="one"))

    def named(data):
        return {**data, "step": data["step"].upper()}

    newer = checkpoint(path, events, version=2, migrations={1: named})
    assert newer.load() == Task(step="ONE")
    newer.save(Task(step="two"))
    with pytest.raises(SchemaTooNewError, match="version 2 of Task"):
        checkpoint(path, events).load()
    with pytest.raises(StoreCorruptError, match="no migration leads to 3"):
        checkpoint(path, events, version=3).load()


def test_a_refusing_disk_leaves_the_state_as_it_was(path, events, monkeypatch):
    kept = checkpoint(path, events)
    kept.save(Task(step="one"))

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreUnavailableError, match="No space left"):
        kept.save(Task(step="two"))
    monkeypatch.undo()
    assert kept.load() == Task(step="one")
    assert [file.name for file in path.parent.iterdir()] == ["task.json"]


def test_a_cleared_state_is_gone(path, events):
    kept = checkpoint(path, events)
    kept.clear()
    kept.save(Task(step="one"))
    kept.save(Task(step="two"))
    kept.clear()
    assert kept.load() is None


def test_the_file_names_its_versions(path, events):
    checkpoint(path, events, version=3).save(Task(step="one"))
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["schema"], document["version"]) == (1, 3)
