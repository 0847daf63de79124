"""The page on the architecture agrees with the code."""

import re
from pathlib import Path

import pytest

import semantic_memory
from eval.walk import Walk, walks

PACKAGE = Path(semantic_memory.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "concepts" / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def walked() -> tuple[Walk, Walk]:
    return walks()


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_room_has_a_line() -> None:
    listed = {
        name.removesuffix("/")
        for line in re.findall(r"^\| (`.*?) \|", section("Rooms"), re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", line)
    }
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if not path.name.startswith("_") and (path.is_dir() or path.suffix == ".py")
    }
    assert listed == rooms - {"testing"} | {"ingest", "eval"}


def test_the_walks_name_the_rooms_they_pass_through(walked: tuple[Walk, Walk]) -> None:
    for title, walk in zip(("One message", "One query"), walked, strict=True):
        passed = set(walk.rooms) - {"bootstrap", "concurrency", "context"}
        assert {room for room in passed if f"`{room}" not in section(title)} == set(), title


def test_the_figures_are_those_that_are_counted(walked: tuple[Walk, Walk]) -> None:
    for name, walk in zip(("a message", "a query"), walked, strict=True):
        row = re.search(rf"^\| {name} \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
        assert row is not None
        assert (len(walk.rooms), len(walk.between_rooms)) == tuple(map(int, row.groups()))


def test_modules_and_paths_on_the_page_exist() -> None:
    for name in re.findall(r"`((?:\w+/)+\w*(?:\.py)?)`", PAGE):
        path = PACKAGE.parent if name.split("/")[0] in ("ingest", "eval") else PACKAGE
        assert (path / name).exists() or (path / f"{name}.py").exists(), name
