"""`make release` refuses what doesn't agree."""

from __future__ import annotations

import runpy
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RELEASE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "release.py"))
CHANGES = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-12-01\n\n- Search is faster.\n"


def git(root: Path, *arguments: str) -> None:
    author = ("-c", "user.name=Maya", "-c", "user.email=maya@example.com")
    subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def faults(tmp_path: Path) -> Callable[..., list[str]]:
    """Return the faults of a release 1.2.3 of a repository, with what differs from a good one."""

    def checked(
        changes: str = CHANGES, version: str = "1.2.3", tag: str = "v1.2.3", late: bool = False
    ) -> list[str]:
        git(tmp_path, "init")
        (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
        (tmp_path / "CHANGELOG.md").write_text(changes)
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "-m", "Release")
        git(tmp_path, "tag", "-a", tag, "-m", tag)
        if late:
            git(tmp_path, "commit", "--allow-empty", "-m", "Another change")
        return list(RELEASE["faults"](tmp_path))

    return checked


def test_a_release_that_agrees_has_no_faults(faults):
    assert faults() == []


@pytest.mark.parametrize(
    ("differing", "said"),
    [
        ({"version": "1.2.2"}, "no section [1.2.2]"),
        ({"version": "1.2"}, "isn't of the form"),
        ({"tag": "v1.2.4"}, "no tag v1.2.3"),
        ({"late": True}, "of another commit"),
        ({"changes": CHANGES.replace("1.2.3", "1.2.2")}, "no section [1.2.3]"),
        ({"changes": CHANGES.replace(" - 2026-12-01", "")}, "write the date"),
        ({"changes": CHANGES.replace("[Unreleased]\n", "[Unreleased]\n- More.\n")}, "unreleased"),
        ({"changes": CHANGES + "- More.\n" * 60}, "61 lines"),
    ],
)
def test_what_disagrees_is_said(faults, differing, said):
    assert any(said in fault for fault in faults(**differing))


def test_a_change_that_is_not_committed_is_refused(faults, tmp_path):
    assert faults() == []
    (tmp_path / "CHANGELOG.md").write_text(CHANGES + "- More.\n")
    assert "uncommitted" in next(iter(RELEASE["faults"](tmp_path)))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["semantic_memory/py.typed", "ingest/a.py", "a.dist-info/LICENSE"], None),
        (["semantic_memory/py.typed", "ingest/a.py", "eval/a.py", "a.dist-info/LICENSE"], "eval"),
        (["semantic_memory/a.py", "ingest/a.py", "a.dist-info/LICENSE"], "py.typed"),
        (["semantic_memory/py.typed", "ingest/a.py"], "license"),
    ],
)
def test_a_wheel_has_its_packages_types_and_license(tmp_path, names, said):
    wheel = tmp_path / "semantic_memory-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    found = list(RELEASE["wheel_faults"](wheel, "1.2.3"))
    assert found == [] if said is None else said in found[0]


def test_the_changelog_of_this_version_is_short():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = RELEASE["version_of"](ROOT)
    (section,) = [part for part in text.split("\n## ") if part.startswith(f"[{version}]")]
    assert len(section.splitlines()) <= RELEASE["MOST_LINES"]
