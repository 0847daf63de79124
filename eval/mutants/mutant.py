"""Mutants of the tree, and whether the check that each names notices it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from semantic_memory.domain.errors import InvalidInputError

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
Table = Literal["defaults", "features", "audit"]
TABLES: tuple[Table, ...] = get_args(Table)
COPIED = ("semantic_memory", "ingest", "eval", "training", "tests", "data", "docs", "examples")
_SECONDS = 300
_FAILED = 1  # exit code of pytest and of the audit if a check fails; others say that none was run


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one place in one file, and the check that notices it."""

    name: str
    file: str
    old: str
    """Text that is in the file once."""
    new: str
    check: str
    """A test of pytest, or a check of `python -m eval audit`."""
    table: Table

    def text(self, root: Path) -> str:
        """Return the file's text with the change. Raises InvalidInputError if it can't be made."""
        before = (root / self.file).read_text(encoding="utf-8")
        if (number := before.count(self.old)) != 1:
            raise InvalidInputError(
                f"mutant {self.name!r}: {self.old!r} is {number} times in {self.file}, not once"
            )
        return before.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Fate:
    """Outcome of the tests for a mutant."""

    mutant: Mutant
    noticed: bool
    seen: str
    seconds: float


def read(table: Table) -> list[Mutant]:
    """Read the mutants of a table."""
    lines = (HERE / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Mutant(**json.loads(line), table=table) for line in lines]


@contextmanager
def copied() -> Iterator[Path]:
    """Copy the tree into a temporary directory."""
    with TemporaryDirectory(prefix="semantic-memory-mutants-") as scratch:
        place = Path(scratch) / "tree"
        place.mkdir()
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
        for name in COPIED:
            shutil.copytree(ROOT / name, place / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "constraints.txt"):
            shutil.copy2(ROOT / name, place / name)
        yield place


def rounds(mutants: Sequence[Mutant]) -> list[list[Mutant]]:
    """Divide mutants into those that are made together.

    A case of a parametrised test reads one default alone, so that those of different cases can be
    made at once, and their tests run by one pytest; all others are made one at a time.
    """
    together: list[list[Mutant]] = []
    alone = []
    for one in mutants:
        if not one.check.endswith("]"):
            alone.append([one])
            continue
        for group in together:
            if all(one.check != other.check and _apart(one, other) for other in group):
                group.append(one)
                break
        else:
            together.append([one])
    return [*together, *alone]


def _apart(one: Mutant, other: Mutant) -> bool:
    """Return True if two mutants can be made one after the other, in either order."""
    if one.file != other.file:
        return True
    return not any(
        set(a.splitlines()) & set(b.splitlines())
        for a, b in ((one.old, other.old), (one.old, other.new), (one.new, other.old))
    )


def fates(together: Sequence[Mutant], tree: Path) -> list[Fate]:
    """Make the mutants of one round, and run their checks."""
    before = {one.file: (tree / one.file).read_bytes() for one in together}
    for one in together:
        (tree / one.file).write_text(one.text(tree), encoding="utf-8")
    started = time.perf_counter()
    code, said = _run([one.check for one in together], together[0].table, tree)
    seconds = time.perf_counter() - started
    for file, content in before.items():
        (tree / file).write_bytes(content)
    found = []
    for one in together:
        told = [line for line in said if one.check in line or one.table == "audit"]
        if len(together) == 1:
            told = told or said
        noticed = code == _FAILED and bool(told)
        found.append(Fate(one, noticed, told[0] if told else f"passed, exit code {code}", seconds))
    return found


def unharmed(mutants: Sequence[Mutant], tree: Path) -> str:
    """Return what fails in the tree as it is, without which no mutant proves anything."""
    for table in TABLES:
        checks = sorted({one.check for one in mutants if one.table == table})
        if checks:
            code, said = _run(checks, table, tree)
            if code:
                return said[0] if said else f"exit code {code}"
    return ""


def _run(checks: Sequence[str], table: Table, tree: Path) -> tuple[int, list[str]]:
    """Run checks; return the exit code and the lines that tell what failed."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    if table == "audit":
        command = [sys.executable, "-m", "eval", "audit", "--json", "--only", ",".join(checks)]
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", *checks]
        command += ["-x"] * (len(checks) == 1)
    try:
        done = subprocess.run(  # noqa: S603 - pytest, or this program
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS * (1 + len(checks)),
        )
    except subprocess.TimeoutExpired:
        return -1, [f"no end after {_SECONDS * (1 + len(checks))} s"]
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    wrong = [one for one in lines if one.startswith(("FAILED", "ERROR")) or '"ok": false' in one]
    return done.returncode, wrong or lines[-1:] or done.stderr.splitlines()[-1:]
