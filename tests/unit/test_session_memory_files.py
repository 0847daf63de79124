import os

import pytest

from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.events import MemoryFileSkipped
from semantic_memory.session.memory_files import (
    Caps,
    MemoryFiles,
    standard_directories,
    system_directories,
)
from semantic_memory.settings import ContextSettings, Settings, WindowSettings

CAPS = Caps(lines=200, size=25_000)


def read_memory_files(directories, emit, caps=CAPS):
    return MemoryFiles(directories, caps, emit).text()


@pytest.fixture
def directories(tmp_path):
    made = [tmp_path / name for name in ("system", "user", "project")]
    for directory in made:
        directory.mkdir()
    return made


def test_the_most_particular_stand_last(directories, events):
    for directory in directories:
        for name in (".agent-context.md", "MEMORY.md", "AGENT.md"):
            (directory / name).write_text(f"{directory.name} {name}\n", encoding="utf-8")
    text = read_memory_files(directories, events.append)
    said = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert said == [
        f"{directory} {name}"
        for directory in ("system", "user", "project")
        for name in ("AGENT.md", "MEMORY.md", ".agent-context.md")
    ]
    assert events == []


def test_without_files_there_is_nothing(directories, events, tmp_path):
    assert read_memory_files([*directories, tmp_path / "missing"], events.append) == ""
    assert events == []


def test_what_is_too_long_is_cut_and_says_so(directories, events):
    *_, project = directories
    (project / "MEMORY.md").write_text("\n".join(f"line {n}" for n in range(500)), "utf-8")
    text = read_memory_files(directories, events.append)
    assert "line 197\n" in text  # with its heading and the warning
    assert "line 198\n" not in text
    assert text.count("\n") + 1 == CAPS.lines
    assert "[WARNING: MEMORY.md is cut: 500 lines" in text


def test_long_lines_count_by_their_bytes(directories, events):
    system, _, project = directories
    (project / "AGENT.md").write_text("ü" * 40_000, encoding="utf-8")
    (system / "AGENT.md").write_text("always", encoding="utf-8")
    text = read_memory_files(directories, events.append)
    assert text.count("WARNING: AGENT.md is cut") == 1
    assert "\nalways\n" in text
    assert CAPS.size - 2 <= len(text.encode()) <= CAPS.size


def test_a_long_file_leaves_the_others_their_share(directories, events):
    *_, project = directories
    (project / "MEMORY.md").write_text("remember this line\n" * 1_600, encoding="utf-8")
    (project / "AGENT.md").write_text("act like this\n" * 90, encoding="utf-8")
    (project / ".agent-context.md").write_text("context line\n" * 900, encoding="utf-8")
    text = read_memory_files(directories, events.append)
    counts = [text.count(words) for words in ("act like", "remember", "context line")]
    assert all(count >= 60 for count in counts), counts
    assert text.count("\n") + 1 == CAPS.lines
    (project / ".agent-context.md").unlink()
    text = read_memory_files(directories, events.append)
    assert text.count("act like") == 90  # what is within its share is whole
    assert text.count("remember") == 200 - 92 - 1 - 2
    assert text.count("WARNING") == 1


def test_a_line_longer_than_the_room_is_cut_at_a_word(directories, events):
    (directories[2] / "AGENT.md").write_text("# Rules\n" + "always test " * 4_000)
    text = read_memory_files(directories, events.append)
    body = text[: text.index("\n[WARNING")]
    assert 24_000 < len(text.encode()) <= 25_000
    assert body.endswith(("always", "test"))


@pytest.mark.parametrize("caps", [Caps(20, 2_000), Caps(50, 1_000_000), Caps(10_000, 3_000)])
def test_caps_hold_with_headings_and_warnings(directories, events, caps):
    for directory in directories:
        for number, name in enumerate((".agent-context.md", "MEMORY.md", "AGENT.md")):
            text = "".join(f"a line of {name} {n}\n" for n in range(10 ** (number + 1)))
            (directory / name).write_text(text, encoding="utf-8")
    text = read_memory_files(directories, events.append, caps)
    assert text.count("\n") + 1 <= caps.lines
    assert len(text.encode()) <= caps.size
    assert text.count("# /") + len(events) == 9  # shown, or skipped and said so


def test_agents_directories_are_read_beside_the_platforms(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = [str(directory) for directory in standard_directories()]
    assert found[0] == "/etc/agent/global"
    assert found[2] == str(tmp_path / "home" / ".agent")
    assert found[-1] == str(tmp_path)
    assert [str(directory) for directory in system_directories()] == found[:2]


# ---------------------------------------------------------------- in a block


def with_files(open_memory, directory, context=None, **window):
    limits = WindowSettings(memory_directories=(directory,), **window)
    memory = open_memory(settings=Settings(window=limits, context=context or ContextSettings()))
    memory.add("Maya prefers tea", user_id="u1", category="preference")
    return memory


def test_a_block_begins_with_memory_files_where_asked(open_memory, directories):
    *_, project = directories
    (project / "AGENT.md").write_text("Answer in French.", encoding="utf-8")
    memory = with_files(open_memory, project)
    asked = memory.context("What does Maya prefer?", user_id="u1", memory_files=True)
    assert asked.text.startswith(f"# {project / 'AGENT.md'}\nAnswer in French.\n\n<memory>")
    assert "Maya prefers tea" in asked.text
    plain = memory.context("What does Maya prefer?", user_id="u1")
    assert "French" not in plain.text
    assert plain.tokens < asked.tokens
    with memory.sessions.open(user_id="u1", session_id="s1", model="gpt-4o") as session:
        assert "Answer in French." in session.payload("Hello")[0]["content"]


@pytest.mark.parametrize("budget", [1, 20, 100, 300, 2_000])
def test_memory_files_stay_within_the_budget_of_a_block(open_memory, directories, budget):
    *_, project = directories
    (project / "MEMORY.md").write_text("Remember the blue canoe. ü\n" * 2_000, encoding="utf-8")
    memory = with_files(open_memory, project)
    counter = TiktokenCounter()
    packed = memory.context("Tea", user_id="u1", budget=budget, memory_files=True)
    assert packed.tokens == counter.count(packed.text) <= budget
    assert ("canoe" in packed.text) == (budget >= 300)


def test_the_limits_of_memory_files_are_settings(open_memory, directories):
    *_, project = directories
    (project / "MEMORY.md").write_text("a short line\n" * 2_000, encoding="utf-8")

    def shown(**options):
        memory = with_files(open_memory, project, **options)
        text = memory.context("Tea", user_id="u1", budget=20_000, memory_files=True).text
        memory.close()
        return text.count("a short line")

    assert shown() == 198
    assert shown(memory_file_lines=50) == 48
    assert shown(memory_file_bytes=2_000) < 150
    assert shown(context=ContextSettings(memory_files=0.01)) < 60
    assert shown(context=ContextSettings(memory_files=0.0)) == 0


def test_no_link_leads_out(directories, events, tmp_path):
    (secret := tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    _, user, project = directories
    (project / "MEMORY.md").symlink_to(secret)
    (user / "AGENT.md").symlink_to("../secret.md")
    (user / "notes.md").write_text("inside", encoding="utf-8")
    (user / "MEMORY.md").symlink_to("notes.md")
    text = read_memory_files(directories, events.append)
    assert "secret" not in text.replace("secret.md", "")
    assert "inside" in text
    assert [type(event) for event in events] == [MemoryFileSkipped] * 2


def test_what_is_no_text_file_is_skipped_with_its_reason(directories, events):
    system, user, project = directories
    os.mkfifo(system / "AGENT.md")
    (user / "AGENT.md").mkdir()
    (project / "AGENT.md").write_bytes(b"\xff\xfe\x00")
    assert read_memory_files(directories, events.append) == ""
    assert [event.reason for event in events] == [
        "it is not a plain file",
        "it is not a plain file",
        "it is not UTF-8",
    ]


def test_a_loop_of_links_is_skipped(directories, events):
    (directories[0] / "AGENT.md").symlink_to("AGENT.md")
    assert read_memory_files(directories, events.append) == ""
    assert len(events) == 1
