"""Figures of the documentation that are older than the code that made them.

Above each table of figures stands the commit it was measured at, and the paths it depends on:

    <!-- measured 399c2893: semantic_memory/judging data/gold/pairs.jsonl -->
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show

ROOT = Path(__file__).parents[1]
EXCEPT = ("decisions", "reference")
"""Folders of `docs` whose tables state a decision's day, or defaults."""
SHARE = 0.4
"""Share of a table's filled cells, without the first column, from which it is one of figures."""

_MARK = re.compile(r"<!-- measured (?P<commit>[0-9a-f]{7,40}): (?P<paths>\S.*?) -->")
_RULE = re.compile(r"\|[-: |]+\|")
_FIGURE = re.compile(r"[^\w`]*\.?\d")


@dataclass(frozen=True, slots=True)
class Figures:
    """One table of figures."""

    place: str
    """File and line of its head."""
    head: str
    commit: str
    """Commit that it was measured at; empty if it isn't marked."""
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Age:
    """Changes to the files that figures depend on since these were measured."""

    figures: Figures
    day: str
    """Day of the commit; empty if the clone's history doesn't hold it."""
    lines: int
    """Lines added and removed, binary files as one each."""
    most: str
    """The file with most of them."""


def figures(page: Path, root: Path) -> Iterator[Figures]:
    """Yield the tables of figures of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for at in range(1, len(lines)):
        if not (_RULE.fullmatch(lines[at].strip()) and lines[at - 1].startswith("|")):
            continue
        rows = []
        for line in lines[at + 1 :]:
            if not line.startswith("|"):
                break
            rows.append(line)
        if not _are_figures(rows):
            continue
        above = next((line for line in reversed(lines[: at - 1]) if line.strip()), "")
        mark = _MARK.fullmatch(above.strip())
        commit, paths = mark.group("commit", "paths") if mark else ("", "")
        place = f"{page.relative_to(root)}:{at}"
        yield Figures(place, lines[at - 1], commit, tuple(paths.split()))


def _are_figures(rows: Sequence[str]) -> bool:
    cells = [cell.strip() for row in rows for cell in row.strip("| ").split("|")[1:]]
    filled = [cell for cell in cells if cell]
    return sum(bool(_FIGURE.match(cell)) for cell in filled) >= max(1.0, SHARE * len(filled))


def pages(root: Path) -> list[Path]:
    """Return the pages whose figures are measured."""
    docs = root / "docs"
    found = sorted(docs.rglob("*.md"))
    return [one for one in found if one.relative_to(docs).parts[0] not in EXCEPT]


def faults(found: Sequence[Figures], root: Path) -> list[str]:
    """Return what is wrong with the marks: none, or one that names a path that doesn't exist."""
    wrong = [
        f"{one.place}: no mark: put <!-- measured COMMIT: PATH ... --> above the table"
        for one in found
        if not one.commit
    ]
    wrong += [
        f"{one.place}: the mark names {path}, which doesn't exist: name what replaced it"
        for one in found
        for path in one.paths
        if not (root / path).exists()
    ]
    return wrong


def age(one: Figures, root: Path) -> Age:
    """Compare the files that figures depend on with those of the commit, by git."""
    day = _git(root, "show", "--no-patch", "--format=%cs", f"{one.commit}^{{commit}}", "--")
    if not day:
        return Age(one, "", 0, "")
    counts = {}
    for line in _git(root, "diff", "--numstat", one.commit, "--", *one.paths).splitlines():
        added, removed, file = line.split("\t")
        counts[file] = 1 if added == "-" else int(added) + int(removed)
    return Age(
        one, day.strip(), sum(counts.values()), max(counts, key=counts.__getitem__, default="")
    )


def _git(root: Path, *arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        raise InvalidInputError("git isn't installed: the age of figures is told by its history")
    done = subprocess.run(  # noqa: S603 - git, with arguments of this module
        [git, "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else ""


def stale() -> None:
    """Print the figures of docs/ that are older than their code; exit 1 if a table isn't marked."""
    found = [one for page in pages(ROOT) for one in figures(page, ROOT)]
    ages = [age(one, ROOT) for one in found if one.commit]
    columns = ("measured", "lines changed since", "most in")
    table = Table(Column("table", overflow="fold"), *columns, box=SIMPLE_HEAD)
    for one in sorted(ages, key=lambda age: -age.lines):
        if one.lines or not one.day:
            day = one.day or f"{one.figures.commit}, not in this clone"
            table.add_row(one.figures.place, day, str(one.lines), one.most)
    show.out.print(table)
    print(f"{table.row_count} of {len(found)} tables of figures are older than their code")
    if wrong := faults(found, ROOT):
        print(*wrong, sep="\n")
        raise typer.Exit(1)
