"""Measure this product and others with the same texts and the same vectors.

Each runs in processes of its own, in the environment that `make bench-peers` installs it into.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.table import Table

from eval.peers import Texts
from eval.peers.worker import PEERS
from eval.vectors import CentredEmbedder, question, statement

ENVIRONMENTS = Path(".cache", "peers")
OURS = "semantic-memory"
NAMES = tuple(PEERS)
_HERE = frozenset({OURS, "chroma"})
"""Systems of the environment that the evaluation runs in."""
_CHECKOUT = Path(__file__).parents[2]
"""Directory from which `eval` is imported."""
_SINGLES = 50
_QUESTIONS = 100
_PATIENCE = 3_600.0  # seconds of one step


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of a peer, or why there are none."""

    name: str
    version: str = ""
    figures: dict[str, float] | None = None
    missing: str = ""


def measure_peers(names: Sequence[str], memories: int, each: int = 1_000) -> Iterator[Measured]:
    """Measure the named peers at so many memories, `each` of a user."""
    with TemporaryDirectory(prefix="semantic-memory-peers-") as scratch:
        corpus = Path(scratch, "corpus")
        write_corpus(corpus, memories, each)
        for name in names:
            with TemporaryDirectory(prefix=f"semantic-memory-{name}-") as store:
                yield _measured(name, corpus, Path(store, "store"))


def write_corpus(directory: Path, memories: int, each: int) -> None:
    """Write texts, questions, and the vectors of both in that order."""
    dice = random.Random(0)
    users = [f"user-{place // each}" for place in range(memories)]
    corpus: dict[str, Texts] = {
        "texts": [(user, statement(dice, place)) for place, user in enumerate(users)],
        "singles": [(users[0], statement(dice, memories + place)) for place in range(_SINGLES)],
        "questions": [(dice.choice(users), question(dice)) for _ in range(_QUESTIONS)],
    }
    known = [text for part in corpus.values() for _, text in part]
    directory.mkdir()
    (directory / "texts.json").write_text(json.dumps(corpus), encoding="utf-8")
    np.save(directory / "vectors.npy", CentredEmbedder().embed(known, "document"))


def table(measured: Sequence[Measured]) -> Table:
    """Return a row for each peer: figures, and in brackets their ratios to this product's."""
    found = [one for one in measured if one.figures]
    ours = next((one.figures for one in found if one.name == OURS), None) or {}
    names = list(dict.fromkeys(name for one in found for name in one.figures or {}))
    drawn = Table("", *(f"{one.name} {one.version}" for one in measured))
    for name in names:
        drawn.add_row(name, *(_cell(one, name, ours) for one in measured))
    return drawn


def document(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return the figures as JSON."""
    return [
        {"name": one.name, "version": one.version, "missing": one.missing}
        | {name: round(value, 3) for name, value in (one.figures or {}).items()}
        for one in measured
    ]


def _measured(name: str, corpus: Path, store: Path) -> Measured:
    python = Path(sys.executable if name in _HERE else ENVIRONMENTS / name / "bin" / "python")
    if not python.exists():
        return Measured(name, missing="isn't installed: make bench-peers")
    figures: dict[str, float] = {}
    version = ""
    for step in ("fill", "search"):
        try:
            printed = _run(python, name, step, corpus, store)
        except subprocess.SubprocessError as error:
            return Measured(name, missing=f"failed to {step}: {_reason(error)}")
        version = printed["version"]
        figures |= printed["figures"]
    return Measured(name, version, figures)


def _run(python: Path, name: str, step: str, corpus: Path, store: Path) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603  # this project's program
        [
            *(str(python), "-m", "eval.peers.worker", name, step),
            *(str(corpus), str(store), str(time.monotonic())),
        ],
        capture_output=True,
        check=True,
        cwd=_CHECKOUT,
        encoding="utf-8",
        timeout=_PATIENCE,
    )
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed


def _reason(error: subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return str(error.stderr.strip().splitlines()[-1])
    return str(error)


def _cell(one: Measured, name: str, ours: dict[str, float]) -> str:
    if one.figures is None:
        return "-"
    value = one.figures[name]
    shown = f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
    return f"{shown} ({value / ours[name]:.1f}x)" if ours.get(name) and one.name != OURS else shown
