"""Marks of the tables of figures in `docs/`, and the age of these by git's history."""

import subprocess
from pathlib import Path

from typer.testing import CliRunner

from eval import stale
from eval.__main__ import app

MARK = "<!-- measured {}: code data.bin -->\n\n"
FIGURES = "| what | measured |\n|---|---|\n| search | 1.4 ms |\n| add | .9 ms |\n"


def test_every_table_of_figures_names_a_commit_and_paths_that_exist():
    found = [one for page in stale.pages(stale.ROOT) for one in stale.figures(page, stale.ROOT)]
    assert len(found) > 30
    assert stale.faults(found, stale.ROOT) == []


def test_table_of_figures_without_a_mark_is_a_fault(tmp_path):
    (one,) = figures(tmp_path, FIGURES)
    (fault,) = stale.faults([one], tmp_path)
    assert fault.startswith("page.md:1: no mark")


def test_mark_that_cant_be_read_is_a_fault(tmp_path):
    for mark in (
        "<!-- measured: code -->",
        "<!-- measured 399c2893 -->",
        "<!-- measured HEAD: code -->",
    ):
        (one,) = figures(tmp_path, f"{mark}\n\n{FIGURES}")
        assert stale.faults([one], tmp_path), mark


def test_mark_of_another_table_isnt_this_ones(tmp_path):
    first, second = figures(tmp_path, f"{MARK.format('399c2893')}{FIGURES}\n{FIGURES}")
    assert first.commit == "399c2893"
    assert second.commit == ""


def test_mark_that_names_a_path_that_is_gone_is_a_fault(tmp_path):
    (tmp_path / "code").mkdir()
    (one,) = figures(tmp_path, MARK.format("399c2893") + FIGURES)
    (fault,) = stale.faults([one], tmp_path)
    assert "data.bin, which doesn't exist" in fault


def test_tables_of_words_need_no_mark(tmp_path):
    assert (
        figures(tmp_path, "| setting | does |\n|---|---|\n| `k` | at most 50 |\n| `b` | no |\n")
        == []
    )


def test_figures_are_as_old_as_the_changes_to_their_paths(tmp_path):
    commit = repository(tmp_path)
    (one,) = figures(tmp_path, MARK.format(commit) + FIGURES)
    (tmp_path / "other.py").write_text("changed = 1\n")
    assert stale.age(one, tmp_path).lines == 0
    (tmp_path / "code" / "a.py").write_text("a = 1\nb = 2\n")
    (tmp_path / "data.bin").write_bytes(bytes(range(255)))
    age = stale.age(one, tmp_path)
    assert (age.lines, age.most) == (2, "code/a.py")
    assert age.day


def test_commit_that_the_clone_lacks_has_no_day(tmp_path):
    repository(tmp_path)
    (one,) = figures(tmp_path, MARK.format("0123456789") + FIGURES)
    assert stale.age(one, tmp_path).day == ""


def test_old_figures_inform_and_a_table_without_a_mark_fails(tmp_path, monkeypatch):
    commit = repository(tmp_path)
    (tmp_path / "code" / "a.py").write_text("a = 2\n")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    page.write_text(MARK.format(commit) + FIGURES)
    told = CliRunner().invoke(app, ["stale"])
    assert (told.exit_code, "1 of 1 tables" in told.output) == (0, True)
    page.write_text(FIGURES)
    told = CliRunner().invoke(app, ["stale"])
    assert (told.exit_code, "docs/page.md:1: no mark" in told.output) == (1, True)


def figures(root: Path, text: str) -> list[stale.Figures]:
    page = root / "page.md"
    page.write_text(text)
    return [*stale.figures(page, root)]


def repository(root: Path) -> str:
    """Make a repository with one commit; return its id."""
    (root / "code").mkdir()
    (root / "code" / "a.py").write_text("a = 1\n")
    (root / "data.bin").write_bytes(bytes(range(256)))
    git = ["git", "-C", str(root), "-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "First"], check=True)
    said = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return said.stdout.strip()
