"""The command `python -m eval beliefs --natural`."""

from __future__ import annotations

import json
from pathlib import Path

from eval.datasets.scenarios import HALVES, load_scenarios
from eval.natural.figures import document, tables, write_rows
from eval.natural.play import play
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import load


def measure_natural(path: Path, half: str, rows: Path | None, *, as_json: bool) -> None:
    """Tell the scenarios of a file to a store and print the figures of one half or both.

    Raises InvalidInputError, NotFoundError; StoreUnavailableError if `rows` can't be written.
    """
    if half not in (*HALVES, "both"):
        raise InvalidInputError(f"unknown half {half!r}: use {', '.join(HALVES)} or both")
    scenarios = [one for one in load_scenarios(path) if half in (one.half, "both")]
    if not scenarios:
        raise InvalidInputError(f"{path} has no scenario of the half {half!r}")
    with show.progress(quiet=False) as report:
        outcomes = play(scenarios, make_embedder(load()), report)
    if rows is not None:
        write_rows(rows, outcomes)
    if as_json:
        print(json.dumps(document(outcomes)))
        return
    for table in tables(outcomes):
        show.out.print(table)
