import json
import stat
from typing import Literal

import pytest
from pydantic import BaseModel

from semantic_memory import Fact
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import (
    InvalidInputError,
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import CheckpointRestored
from semantic_memory.session.checkpoint import Checkpoint
from semantic_memory.session.state_files import StateFile
from tests.conftest import make_fact


class Task(BaseModel):
    step: str
    done: frozenset[int] = frozenset()
    ratio: float = 0.1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tasks" / "task.json"


def file_of(path, events) -> StateFile:
    return StateFile(path, events.append, SystemDisk())


def checkpoint(path, events, **options) -> Checkpoint[Task]:
    return Checkpoint(file_of(path, events), Task, **options)


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


# ---------------------------------------------------------------- versions


class Plan(BaseModel):
    stage: str
    done: tuple[int, ...] = ()
    owner: str


def steps():
    """Return the migrations from Task to Plan, each of which depends on the one before."""
    return {
        1: lambda data: {"stage": data["step"], "done": data["done"]},
        2: lambda data: {**data, "owner": f"owner of {data['stage']}"},
    }


def test_migrations_are_chained_from_the_version_of_the_state(path, events):
    checkpoint(path, events).save(Task(step="fetch", done=frozenset({3})))
    plans = Checkpoint(file_of(path, events), Plan, version=3, migrations=steps())
    whole = Plan(stage="fetch", done=(3,), owner="owner of fetch")
    assert plans.load() == whole
    assert json.loads(path.read_text())["version"] == 1  # reading changes nothing
    plans.save(whole)
    assert json.loads(path.read_text())["version"] == 3
    assert Checkpoint(file_of(path, events), Plan, version=3).load() == whole


def test_a_gap_between_migrations_is_named(path, events):
    checkpoint(path, events).save(Task(step="fetch"))
    plans = Checkpoint(file_of(path, events), Plan, version=3, migrations={1: steps()[1]})
    with pytest.raises(StoreCorruptError, match=r"leads to 3: pass migrations=\{2: "):
        plans.load()


@pytest.mark.parametrize("number", [0, 3, 7])
def test_a_migration_beyond_the_version_is_refused(path, events, number):
    with pytest.raises(InvalidInputError, match=f"{number}.*from 1 to 2"):
        Checkpoint(file_of(path, events), Plan, version=3, migrations={number: dict})


def test_a_failing_migration_leaves_the_state_as_it_was(path, events):
    checkpoint(path, events).save(Task(step="one"))
    checkpoint(path, events).save(Task(step="two"))
    before = path.read_bytes()
    wrong = Checkpoint(file_of(path, events), Plan, version=2, migrations={1: dict})
    with pytest.raises(StoreCorruptError, match=r"is no Plan of version 2: stage.*owner"):
        wrong.load()
    assert path.read_bytes() == before
    assert events == []  # sound data is never taken for damage
    assert checkpoint(path, events).load() == Task(step="two")


def test_a_newer_state_is_neither_read_nor_overwritten(path, events):
    checkpoint(path, events, version=2).save(Task(step="new"))
    old = checkpoint(path, events)
    with pytest.raises(SchemaTooNewError, match=r"upgrade the program, or `clear`"):
        old.load()
    with pytest.raises(SchemaTooNewError):
        old.save(Task(step="old"))
    assert checkpoint(path, events, version=2).load() == Task(step="new")
    old.clear()
    old.save(Task(step="old"))
    assert old.load() == Task(step="old")


def test_an_older_state_is_kept_as_the_previous_one(path, events):
    checkpoint(path, events).save(Task(step="one"))
    plans = Checkpoint(file_of(path, events), Plan, version=3, migrations=steps())
    plans.save(Plan(stage="two", owner="Maya"))
    path.write_bytes(b"{")
    assert plans.load() == Plan(stage="one", owner="owner of one")


# ---------------------------------------------------------------- promotion


class Style(BaseModel):
    language: str = "English"
    length: Literal["brief", "detailed"] = "detailed"
    wishes: tuple[str, ...] = ()
    source: Fact | None = None
    tries: int = 0


TEA = make_fact(content="Prefers answers in German")


def styles(path, events, **options):
    return Checkpoint(file_of(path, events), Style, **options)


@pytest.mark.parametrize(
    ("field", "value", "held"),
    [
        ("language", None, "Prefers answers in German"),
        ("language", "German", "German"),
        ("length", "brief", "brief"),
        ("wishes", None, ("Prefers answers in German",)),
        ("source", None, TEA),
    ],
)
def test_a_fact_is_promoted_into_a_field_by_name(path, events, field, value, held):
    kept = styles(path, events)
    kept.save(Style(tries=2))
    state = kept.promote(TEA, field, value=value)
    assert getattr(state, field) == held
    assert state.tries == 2
    assert styles(path, events).load() == state


def test_a_fact_is_appended_once(path, events):
    kept = styles(path, events)
    kept.promote(TEA, "wishes")
    kept.promote(make_fact(2, content="Hates emoji"), "wishes")
    assert kept.promote(TEA, "wishes").wishes == (TEA.content, "Hates emoji")


@pytest.mark.parametrize(
    ("fact", "field", "reason"),
    [
        (TEA, "mood", "no field 'mood'; known: language"),
        (TEA, "length", r"length.*'brief' or 'detailed'.*value="),
        (TEA, "tries", "tries.*integer"),
        (make_fact(status="quarantined"), "language", "is quarantined"),
        (make_fact(status="superseded"), "language", "is superseded"),
        (make_fact(user_id="u2"), "language", "another user"),
    ],
)
def test_a_fact_that_can_not_be_promoted_changes_nothing(path, events, fact, field, reason):
    kept = styles(path, events, user_id="u1")
    kept.save(Style(language="French"))
    with pytest.raises(InvalidInputError, match=reason):
        kept.promote(fact, field)
    assert kept.load() == Style(language="French")


def test_promotion_needs_a_state_where_the_model_has_no_defaults(path, events):
    with pytest.raises(InvalidInputError, match="save one first"):
        checkpoint(path, events).promote(TEA, "step")


def test_a_preference_learnt_in_conversation_reaches_the_task(open_memory):
    memory = open_memory()
    session = memory.sessions.open(
        user_id="u1", session_id="s1", model="gpt-4o", memory_directories=()
    )
    session.push(user="I prefer answers in German.", assistant="Gern.")
    session.close()
    (fact,) = memory.list(user_id="u1", filters={"categories": ["preference"]})
    task = session.checkpoint("report", Style)
    assert task.promote(fact, "wishes").wishes == (fact.content,)
    memory.close()
    again = open_memory().sessions.open(
        user_id="u1", session_id="s1", model="gpt-4o", memory_directories=()
    )
    assert again.checkpoint("report", Style).load().wishes == (fact.content,)


def test_a_session_migrates_the_state_of_its_task(memory):
    session = memory.sessions.open(
        user_id="u1", session_id="s1", model="gpt-4o", memory_directories=()
    )
    session.checkpoint("report", Task).save(Task(step="fetch"))
    plans = session.checkpoint("report", Plan, version=3, migrations=steps())
    assert plans.load() == Plan(stage="fetch", owner="owner of fetch")
