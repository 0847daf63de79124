"""python -m eval: measure retrieval on data sets of your own or of others."""

from __future__ import annotations

import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.table import Table

from eval import beliefs as belief_rules
from eval.bench import build_store, measure_store
from eval.datasets.locomo import load_locomo
from eval.decay import draw, simulate
from eval.extraction_report import extraction
from eval.load import fill
from eval.load import load as put_load
from eval.run import Row, evaluate, means
from semantic_memory.entrypoints.cli import show
from semantic_memory.errors import InvalidInputError, SemanticMemoryError
from semantic_memory.maintenance.fading import Fading

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

MEASURES = ("Recall@10", "MRR@10", "nDCG@10", "Success@10", "AllRecall@10")

DataFile = Annotated[Path, typer.Option("--data", help="The data set's file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")]


app.command()(extraction)


@app.callback()
def about() -> None:
    """Measure retrieval offline."""


@app.command()
def locomo(data: DataFile, as_json: AsJson = False) -> None:
    """LoCoMo, turn level: how much of what holds the answer comes back."""
    histories = load_locomo(data)
    with show.progress(quiet=False) as report:
        rows = list(evaluate(histories, MEASURES, report))
    if as_json:
        print(json.dumps(_summary(rows)))
    else:
        show.out.print(_table(rows))


@app.command()
def bench(
    users: Annotated[int, typer.Option(help="Small users beside the large one.")] = 1_000,
    each: Annotated[int, typer.Option(help="Memories of each.")] = 100,
    store: Annotated[
        Path | None, typer.Option(help="Keep the store here, or measure the one that is there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Speed and memory: a user of 5,000 memories, and many small ones."""
    with TemporaryDirectory(prefix="semantic-memory-bench-") as scratch:
        directory = store or Path(scratch, "store")
        figures: dict[str, float] = {}
        if not directory.exists():
            # In a process of its own, so that what building leaves behind isn't measured.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                figures["messages taken in a second"] = apart.submit(
                    build_store, directory, users, each
                ).result()
        figures |= measure_store(directory, users, each)
    if as_json:
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}))
    else:
        show.pairs({name: f"{value:,.2f}" for name, value in figures.items()})


@app.command()
def load(
    users: Annotated[int, typer.Option(help="Users of the store.")] = 100,
    each: Annotated[int, typer.Option(help="Memories of each.")] = 5_000,
    seconds: Annotated[float, typer.Option(help="How long.")] = 60.0,
    clients: Annotated[int, typer.Option(help="At the same time.")] = 16,
    store: Annotated[
        Path | None, typer.Option(help="Keep the store here, or use the one that is there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Load on the service: 80 % searches, 15 % messages, 5 % facts; nothing may be lost."""
    with TemporaryDirectory(prefix="semantic-memory-load-") as scratch:
        directory = store or Path(scratch, "store")
        if not directory.exists():
            fill(directory, users, each)
        outcome, figures = put_load(directory, users, seconds, clients)
    if as_json:
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}))
    else:
        show.pairs({name: f"{value:,.1f}" for name, value in figures.items()})
    for error in outcome.errors[:10]:
        show.warn(error)
    if outcome.errors or outcome.lost or outcome.strays:
        raise typer.Exit(1)


@app.command()
def beliefs(
    data: Annotated[Path | None, typer.Option(help="Directory of the data sets.")] = None,
    speed: Annotated[bool, typer.Option("--speed", help="Time sweeps instead.")] = False,
) -> None:
    """Duplicates, conflicts and updates: what is found, and what is found wrongly."""
    if speed:
        show.pairs(dict(belief_rules.timed()))
    elif data is None:
        raise InvalidInputError("give the directory of the data sets with --data, or --speed")
    else:
        for table in belief_rules.tables(data):
            show.out.print(table)


@app.command()
def decay(
    plot: Annotated[Path | None, typer.Option(help="Draw it there (.svg, .png).")] = None,
    cap: Annotated[int, typer.Option(help="Facts the user may have.")] = 1_500,
) -> None:
    """A simulated year: what fades, what is kept, what is put away."""
    year = simulate(Fading(cap=cap))
    table = Table("category", "said", "kept", "kept of used", "of unused", "mean retention")
    for name, said, kept, used, unused, left in year.rows():
        table.add_row(name, str(said), str(kept), f"{used:.0%}", f"{unused:.0%}", f"{left:.2f}")
    show.out.print(table)
    if plot is not None:
        draw(year, plot)


def _summary(rows: list[Row]) -> dict[str, object]:
    milliseconds = sorted(1_000 * row.seconds for row in rows)
    return {
        **{name: round(value, 4) for name, value in means(rows).items()},
        "questions": len(rows),
        "latency_ms": {
            "p50": round(statistics.median(milliseconds), 2),
            "p95": round(milliseconds[int(0.95 * (len(milliseconds) - 1))], 2),
        },
        "by_kind": {
            kind: {
                "questions": len(own),
                **{name: round(value, 4) for name, value in means(own).items()},
            }
            for kind, own in _by_kind(rows).items()
        },
    }


def _table(rows: list[Row]) -> Table:
    table = Table("kind", "questions", *MEASURES)
    for kind, own in {**_by_kind(rows), "all": rows}.items():
        table.add_row(kind, str(len(own)), *(f"{value:.3f}" for value in means(own).values()))
    return table


def _by_kind(rows: list[Row]) -> dict[str, list[Row]]:
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    return dict(sorted(kinds.items()))


if __name__ == "__main__":
    try:
        app()
    except SemanticMemoryError as error:
        sys.exit(show.fail(error))
