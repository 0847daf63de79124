"""Command `python -m eval spaces`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from eval import experiment
from eval import spaces as measured
from eval.datasets.load import NAMES, load, named
from semantic_memory.entrypoints.cli import show


def spaces(
    dataset: Annotated[str, typer.Option("--set", help=f"One of: {', '.join(NAMES)}.")] = "gold",
    data: Annotated[Path | None, typer.Option("--data", help="The data set's file.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Cache of embeddings between runs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure one ranking over a user's and a team's memory against the undivided memory."""
    loaded = load(named(dataset), data)
    with experiment.bench(cache, remember_queries=True) as shared, show.progress(quiet=False) as on:
        found = list(measured.sweep(loaded, shared, on))
    if as_json:
        print(json.dumps([asdict(figure) for figure in found]))
    else:
        show.out.print(_table(found))


def _table(found: list[measured.Figure]) -> Table:
    columns = [Column(name, justify="right") for name in measured.MEASURES]
    table = Table("memory", "asked", *columns, box=SIMPLE_HEAD, pad_edge=False)
    for store, way in dict.fromkeys((one.store, one.way) for one in found):
        own = {one.measure: one.value for one in found if (one.store, one.way) == (store, way)}
        table.add_row(store, way, *(f"{own[name]:.4f}" for name in measured.MEASURES))
    return table
