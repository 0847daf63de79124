"""The command `bench`: speed and RAM of a store, its growth, and other systems beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from eval import growth_report
from eval.bench import build_store, measure_store
from eval.growth import measure_growth
from eval.peers import bench as peers_bench
from eval.printing import print_figures
from eval.refill import measure_refill
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show


def bench(
    users: Annotated[
        int, typer.Option(help="Number of small users besides the large one.")
    ] = 1_000,
    each: Annotated[int, typer.Option(help="Number of memories of a small user.")] = 100,
    store: Annotated[
        Path | None, typer.Option(help="Keep the store here, or measure an existing one.")
    ] = None,
    growth: Annotated[
        bool, typer.Option("--growth", help="Measure stores of growing sizes instead.")
    ] = False,
    sizes: Annotated[
        str, typer.Option(help="With --growth: USERSxMEMORIES, several with commas.")
    ] = growth_report.SIZES,
    million: Annotated[
        bool, typer.Option("--million", help="With --growth: two stores of a million memories too.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="With --growth: write a plot to this SVG file.")
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Measure other memory systems beside this instead.")
    ] = False,
    systems: Annotated[
        str, typer.Option(help="With --peers: those to measure, with commas.")
    ] = ",".join(peers_bench.NAMES),
    memories: Annotated[
        int, typer.Option(min=1, help="With --peers: number of memories, 1,000 of a user.")
    ] = 5_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure speed and RAM with a user of 5,000 memories and many small users, and rebuilding."""
    if growth:
        asked = f"{sizes},{growth_report.MILLION}" if million else sizes
        _growth(asked, plot, as_json=as_json)
    elif peers:
        _peers([name.strip() for name in systems.split(",")], memories, as_json=as_json)
    elif million or plot:
        raise InvalidInputError("--million and --plot are for --growth: give it too")
    else:
        _store(users, each, store, as_json=as_json)


def _growth(sizes: str, plot: Path | None, *, as_json: bool) -> None:
    asked = growth_report.parse_sizes(sizes)
    grown = []
    with show.progress(quiet=False) as report:
        for number, one in enumerate(measure_growth(asked), start=1):
            report("sizes measured", number, len(asked))
            grown.append(one)
    if plot is not None:
        growth_report.draw(grown, plot)
    if as_json:
        print(json.dumps(growth_report.document(grown)))
    else:
        show.out.print(growth_report.table(grown))


def _peers(names: Sequence[str], memories: int, *, as_json: bool) -> None:
    unknown = set(names) - set(peers_bench.NAMES)
    if unknown:
        raise InvalidInputError(f"unknown system {min(unknown)!r}: {','.join(peers_bench.NAMES)}")
    measured = []
    with show.progress(quiet=False) as report:
        for number, one in enumerate(peers_bench.measure_peers(names, memories), start=1):
            report("systems measured", number, len(names))
            measured.append(one)
    if as_json:
        print(json.dumps(peers_bench.document(measured)))
    else:
        show.out.print(peers_bench.table(measured))
        for one in measured:
            if one.missing:
                show.warn(f"{one.name} {one.missing}")


def _store(users: int, each: int, store: Path | None, *, as_json: bool) -> None:
    with TemporaryDirectory(prefix="semantic-memory-bench-") as scratch:
        directory = store or Path(scratch, "store")
        figures: dict[str, float] = {}
        if not directory.exists():
            # In a process of its own, so that its garbage isn't measured.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                figures["messages taken in a second"] = apart.submit(
                    build_store, directory, users, each
                ).result()
        figures |= measure_store(directory, users, each)
    figures |= measure_refill()
    print_figures(figures, "{:,.2f}", as_json=as_json)
