import os

import pytest

from semantic_memory.domain.events import MemoryFileSkipped
from semantic_memory.session.memory_files import MOST_BYTES, MOST_LINES, read_memory_files


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
    assert f"line {MOST_LINES - 1}\n" in text
    assert f"line {MOST_LINES}\n" not in text
    assert "[WARNING: MEMORY.md is cut: 500 lines" in text


def test_long_lines_count_by_their_bytes(directories, events):
    system, _, project = directories
    (project / "AGENT.md").write_text("ü" * 40_000, encoding="utf-8")
    (system / "AGENT.md").write_text("never", encoding="utf-8")
    text = read_memory_files(directories, events.append)
    assert text.count("WARNING: AGENT.md is cut") == 2  # the other has no room left at all
    assert text.count("ü") == MOST_BYTES // 2


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
