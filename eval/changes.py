"""Count the updates and the look-alikes that the rules take for updates, writer by writer.

    python -m eval.changes --rows

`data/gold/changes.jsonl` holds pairs of a user's statements by four invented writers with habits of
their own. Every newer statement of an update has a cue of a change ("went over to the Sunday
group"), and so have most look-alikes. It takes seconds: the pairs are judged as texts, without a
store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eval.extraction import read_lines
from semantic_memory.consolidation.renewal import renewal

PAIRS = Path(__file__).parent.parent / "data" / "gold" / "changes.jsonl"


class Judged(NamedTuple):
    """Two statements, whether the newer ends the older, and whether the rules say so."""

    writer: str
    older: str
    newer: str
    over: bool
    found: bool


def judged(rows: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """Judge pairs as the file has them, each as near as two statements can be."""
    return [
        Judged(
            row["writer"],
            row["older"],
            row["newer"],
            row["over"],
            renewal(row["older"], row["newer"]) is not None,
        )
        for row in rows
    ]


def main(
    rows: Annotated[bool, typer.Option(help="Print the pairs that are judged wrongly.")] = False,
) -> None:
    """Print for each writer how many updates and look-alikes are taken for updates."""
    found = judged(read_lines(PAIRS))
    for writer in sorted({one.writer for one in found}):
        own = [one for one in found if one.writer == writer]
        for over, name in ((True, "updates"), (False, "look-alikes")):
            part = [one.found for one in own if one.over is over]
            print(f"{writer}: {sum(part)} of {len(part)} {name} renew")
    if rows:
        for one in found:
            if one.found != one.over:
                print(f"{'missed' if one.over else 'wrong'}: {one.older} | {one.newer}")


if __name__ == "__main__":
    typer.run(main)
