"""The command `python -m eval audit`."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from eval.audit import layers, persistence, reach, recall, trust, window  # noqa: F401 - register
from eval.audit.checks import CHECKS, Check, Outcome, run
from eval.audit.site import Site
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show


def audit(
    only: Annotated[
        str | None, typer.Option(help="Rows or names of checks, separated by commas.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each check.")
    ] = False,
) -> None:
    """Check the promises of the features page against a running store and service."""
    wanted, started = _chosen(only), time.perf_counter()
    outcomes: list[Outcome] = []
    with Site() as site, show.progress(quiet=False) as report:
        for place, one in enumerate(wanted):
            report(f"{one.row} {one.name}", place, len(wanted))
            outcomes.append(run(one, site))
            if as_json:
                print(json.dumps(_row(outcomes[-1])), flush=True)
    failed = [one for one in outcomes if not one.passed]
    if not as_json:
        show.out.print(_table(outcomes))
        seconds = time.perf_counter() - started
        passed = len(outcomes) - len(failed)
        print(f"{passed} of {len(outcomes)} checks hold, in {seconds:.0f} s")
    if failed:
        raise typer.Exit(1)


def _chosen(only: str | None) -> list[Check]:
    if only is None:
        return CHECKS
    names = {name.strip() for name in only.split(",")}
    unknown = names - {one.row for one in CHECKS} - {one.name for one in CHECKS}
    if unknown:
        raise InvalidInputError(f"no row and no check is called {', '.join(sorted(unknown))}")
    return [one for one in CHECKS if names & {one.row, one.name}]


def _row(one: Outcome) -> dict[str, object]:
    return {
        "row": one.check.row,
        "check": one.check.name,
        "claim": one.check.claim,
        "ok": one.passed,
        "seen": one.seen,
        "seconds": round(one.seconds, 2),
    }


def _table(outcomes: list[Outcome]) -> Table:
    claims = Column("check", ratio=4, overflow="fold")
    seen = Column("what was seen", ratio=5, overflow="fold")
    table = Table("row", claims, "", seen, Column("s", justify="right"), box=SIMPLE_HEAD)
    for one in outcomes:
        state = "ok" if one.passed else "FAILED"
        shown = one.seen if not one.passed else f"{one.seen[:160]}"
        table.add_row(one.check.row, one.check.claim, state, shown, f"{one.seconds:.1f}")
    return table
