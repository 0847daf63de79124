"""Command `python -m eval relevance`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from eval import experiment
from eval import relevance as measured
from eval.datasets.load import GOLD, load
from eval.gold import Half
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show


def relevance(
    data: Annotated[Path | None, typer.Option("--data", help="Another file.")] = None,
    half: Annotated[Half | None, typer.Option(help="Only one half of the stores.")] = None,
    locomo: Annotated[Path | None, typer.Option(help="LoCoMo, for the cost.")] = None,
    realtalk: Annotated[Path | None, typer.Option(help="RealTalk, for the cost.")] = None,
    weights: Annotated[
        str, typer.Option(help="Weights of relevance to measure, with commas.")
    ] = ",".join(map(str, measured.WEIGHTS)),
    cache: Annotated[Path | None, typer.Option(help="Cache of embeddings between runs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure what the weight of relevance brings, and what it costs in Recall@10."""
    gold = measured.halves(load("own", data or GOLD / "relevance.jsonl"), half)
    costs = [load("locomo", locomo)] if locomo else []
    costs += [load("realtalk", realtalk)] if realtalk else []
    with experiment.bench(cache, remember_queries=True) as shared, show.progress(quiet=False) as on:
        found = list(measured.sweep(gold, costs, _numbers(weights), shared, on))
    if as_json:
        print(json.dumps([vars_of(figure) for figure in found]))
    else:
        show.out.print(_table(found))


def vars_of(figure: measured.Figure) -> dict[str, object]:
    """Return a figure as the members of a JSON object."""
    return {
        "weight": figure.weight,
        "kind": figure.kind,
        "measure": figure.measure,
        "value": round(figure.value, 4),
    }


def _table(found: list[measured.Figure]) -> Table:
    columns = list(dict.fromkeys((one.kind, one.measure) for one in found))
    table = Table(
        "w",
        *(Column(f"{kind}\n{measure}", justify="right") for kind, measure in columns),
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for weight in dict.fromkeys(one.weight for one in found):
        own = {(one.kind, one.measure): one.value for one in found if one.weight == weight}
        table.add_row(str(weight), *(f"{own[column]:.4f}" for column in columns))
    return table


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(f"not weights: {text!r}") from None
