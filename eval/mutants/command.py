"""The command `python -m eval mutants`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from eval.mutants import mutant
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.entrypoints.cli import show


def mutants(
    tables: Annotated[
        str, typer.Option("--tables", help=f"Some of {','.join(mutant.TABLES)}.")
    ] = "defaults,features",
    only: Annotated[str | None, typer.Option(help="Names that begin so.")] = None,
    baseline: Annotated[
        bool, typer.Option(help="First show that the checks pass in the tree as it is.")
    ] = True,
) -> None:
    """Change one default or feature at a time, and show that a check fails; exit 1 if none does."""
    unknown = set(tables.split(",")) - {*mutant.TABLES}
    if unknown:
        raise InvalidInputError(f"no table {', '.join(unknown)}: {', '.join(mutant.TABLES)}")
    wanted = [
        one
        for name in mutant.TABLES
        if name in tables.split(",")
        for one in mutant.read(name)
        if one.name.startswith(only or "")
    ]
    if not wanted:
        raise InvalidInputError(f"no mutant's name begins with {only!r}")
    failed = 0
    table = Table("mutant", "check", "", Column("seen", overflow="fold"), box=SIMPLE_HEAD)
    with mutant.copied() as tree, show.progress(quiet=False) as report:
        if baseline and (wrong := mutant.unharmed(wanted, tree)):
            raise InvalidInputError(f"a check fails in the tree as it is: {wrong}")
        done = 0
        for together in mutant.rounds(wanted):
            report(together[0].name, done, len(wanted))
            done += len(together)
            for fate in mutant.fates(together, tree):
                failed += not fate.noticed
                state = "noticed" if fate.noticed else "MISSED"
                table.add_row(fate.mutant.name, fate.mutant.check, state, fate.seen[:120])
    show.out.print(table)
    print(f"{len(wanted) - failed} of {len(wanted)} mutants are noticed")
    if failed:
        raise typer.Exit(1)
