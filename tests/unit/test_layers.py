"""The three layers of a user's memory: their round trip, their ages, and questions for one."""

import json
import re
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.english.layers import asked_tiers
from semantic_memory.domain.errors import ConfigurationError, InvalidInputError
from semantic_memory.domain.messages import SessionOptions
from semantic_memory.entrypoints.cli import app
from semantic_memory.settings import ContextSettings, ProfileSettings, Settings, load
from tests.conftest import NOW, say

U = {"user_id": "u1"}
S = {"user_id": "u1", "session_id": "s1"}


def fill(memory):
    memory.sessions.configure(**S, extract=False)
    memory.observe(say("I prefer tea over coffee.", "Noted."), **S)
    memory.observe(say("I live in Bergen."), **U, session_id="s2")
    memory.add(
        "Maya works as an engineer in a team at a company.",
        **U,
        category="technical",
        created_at=NOW - timedelta(days=1),
    )
    memory.add("Maya left Trondheim", **U, created_at=NOW - timedelta(days=400))
    memory.profile.update({"top_of_mind": "Ships the beta in May."}, **U)
    memory.flush()


def state(memory):
    profile = memory.profile.get(**U)
    return {
        "facts": sorted(fact.content for fact in memory.list(**U, limit=None)),
        "profile": {name: one and one.text for name, one in profile.profile},
        "history": {name: [line.text for line in lines] for name, lines in profile.history},
        "options": {info.session_id: info.options for info in memory.sessions.list(**U)},
        "messages": [one.content for one in memory.sessions.messages(**S)],
    }


def test_the_whole_state_of_a_user_goes_through_one_document(open_memory, tmp_path):
    memory = open_memory()
    fill(memory)
    document = memory.transfer.to_dict(**U)
    before = state(memory)
    assert document["profile"]["top_of_mind"]["text"] == "Ships the beta in May."
    assert before["options"]["s1"] == SessionOptions(extract=False)
    memory.close()
    (tmp_path / "store").rename(tmp_path / "old")

    other = open_memory()
    read = json.loads(json.dumps(document))
    assert other.transfer.from_dict(read, **U) > 0
    other.flush()
    assert state(other) == before
    assert other.transfer.from_dict(read, **U) == 0  # again doubles nothing


def test_loading_leaves_the_options_of_a_known_session(memory):
    fill(memory)
    document = memory.transfer.to_dict(**U)
    memory.sessions.configure(**S, fades=False)
    memory.transfer.from_dict(document, **U)
    options = {info.session_id: info.options for info in memory.sessions.list(**U)}
    assert options["s1"] == SessionOptions(extract=False, fades=False)


def test_a_session_has_a_document_of_its_own(memory):
    fill(memory)
    document = memory.transfer.to_dict(**S)
    assert [one["session_id"] for one in document["sessions"]] == ["s1"]
    assert "profile" not in document


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"schema_version": 0}, "schema_version"),
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"facts": [{"id": "a b"}]}, "record"),
        ({"sessions": [{}]}, "sessions.0.session_id"),
    ],
)
def test_a_wrong_document_is_named(memory, change, named):
    fill(memory)
    with pytest.raises(InvalidInputError, match=named):
        memory.transfer.from_dict({**memory.transfer.to_dict(**U), **change}, **U)


def test_the_command_line_writes_and_reads_one_document(memory, tmp_path, monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_DATA_DIR", str(tmp_path / "store"))
    memory.add("Owns a red canoe", **U)
    memory.close()
    monkeypatch.setattr("semantic_memory.entrypoints.cli.store.opened", lambda *_, **__: reopened())

    def reopened():
        from semantic_memory import SemanticMemory
        from semantic_memory.testing import HashEmbedder, InMemoryIndex

        return SemanticMemory.open(embedder=HashEmbedder(), index=InMemoryIndex())

    file = tmp_path / "maya.json"
    run = CliRunner().invoke
    assert (
        run(app, ["transfer", "export", "-u", "u1", "--format", "json", "-o", str(file)]).exit_code
        == 0
    )
    assert json.loads(file.read_text())["facts"][0]["content"] == "Owns a red canoe"
    done = run(app, ["transfer", "import", str(file), "-u", "u9", "--format", "json", "--json"])
    (held,) = json.loads(file.read_text())["facts"]
    assert json.loads(done.output)["new"] == 1
    assert json.loads(done.output)["renamed"].keys() == {held["id"]}  # u1 has it
    refused = run(app, ["transfer", "export", "-u", "u1", "--format", "yaml"])
    assert "use jsonl or json" in str(refused.exception)


# ---------------------------------------------------------------- ages


def test_the_ages_of_the_tiers_are_settings(open_memory):
    ages = ProfileSettings(recent_days=100, earlier_days=500)
    memory = open_memory(settings=Settings(profile=ages))
    for days, event in (
        (60, "Maya signed the lease in Oslo."),
        (200, "Maya finished her thesis about storage."),
        (600, "Maya left Trondheim for good."),
    ):
        said = NOW - timedelta(days=days)
        memory.add(event, **U, category="project", created_at=said)
    memory.flush()
    history = memory.profile.get(**U).history
    assert [[line.text for line in lines] for _, lines in history] == [
        ["Maya signed the lease in Oslo."],
        ["Maya finished her thesis about storage."],
        ["Maya left Trondheim for good."],
    ]


def test_ages_must_be_in_order(monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_PROFILE__EARLIER_DAYS", "20")
    with pytest.raises(ConfigurationError, match="earlier_days must be more than recent_days"):
        load()


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("question", "tiers"),
    [
        ("What am I working on?", ("recent_months",)),
        ("what is Maya working on now", ("recent_months",)),
        ("What is my current project?", ("recent_months",)),
        ("What's on my mind?", ("recent_months",)),
        ("What have I been up to?", ("recent_months",)),
        ("Which tone do I like?", ()),
        ("Where does Maya live?", ()),
        ("When did Maya's work begin?", ()),
        ("Who recently moved to Oslo?", ()),
    ],
)
def test_a_question_says_which_tiers_it_asks_for(question, tiers):
    assert asked_tiers(question) == tiers


WORK = "Leads the storage team and moves its queues to Postgres before the summer."
HOME = "Has a sister and two cats in Bergen, and a boat in the harbour of Askoey."


MIND = "Is moving house in June."
EVENTS = (
    "Maya moved the storage engine to Rust",
    "Maya signed the lease for an office in Oslo",
    "Maya hired two engineers from Madrid",
    "Maya presented the roadmap at a conference",
)


@pytest.fixture
def profiled(open_memory):
    def open_it(**context):
        memory = open_memory(settings=Settings(context=ContextSettings(**context)))
        fields = {"work_context": WORK, "personal_context": HOME, "top_of_mind": MIND}
        memory.profile.update(fields, **U)
        return memory

    return open_it


@pytest.mark.parametrize("budget", [500, 2_000])
@pytest.mark.parametrize("question", ["What am I working on?", "Where is the harbour?", "Tea?"])
def test_a_block_begins_with_every_field_written_by_hand(profiled, budget, question):
    block = profiled().context(question, **U, budget=budget)
    assert block.tokens <= budget
    assert all(text in block.text for text in (WORK, HOME, MIND))


def test_texts_and_history_together_keep_to_their_share(profiled):
    memory = profiled()
    memory.transfer.add_many([{"content": one, "category": "project"} for one in EVENTS], **U)
    memory.flush()
    for budget in (100, 200, 300, 500):
        text = memory.context("What have I been up to?", **U, budget=budget).text
        lines = re.findall(r"<(?:profile|history)>\n(.*?)</", text, re.DOTALL)
        assert TiktokenCounter().count("".join(lines)) <= 0.15 * budget


def test_the_share_of_the_history_is_a_setting(profiled):
    def told(**context):
        with profiled(**context) as memory:
            memory.transfer.add_many(
                [{"content": one, "category": "project"} for one in EVENTS], **U
            )
            memory.flush()
            filters = {"categories": ["project"]}
            recent = "What have I been up to?"
            text = memory.context(recent, **U, budget=500, filters=filters).text
        return sum(event in text.partition("<history>")[2] for event in EVENTS)

    assert told() > told(history=0.0)


def test_layers_asked_for_stay_within_the_budget(profiled):
    memory = profiled(history=1.0)
    for budget in (10, 30, 60, 300):
        assert memory.context("What am I working on?", **U, budget=budget).tokens <= budget
