"""Read blocks as a model would, after somebody told a state and later a change of it, or not.

    python -m eval voices data/gold/voices_told.jsonl [--half measure] [--rows FILE]

A row has an older and a newer statement of one voice, the question, and the words that carry each
value. Both are told to a store weeks apart, with other talk between, as `beliefs --natural` does;
the question is asked on the Monday after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import Field
from rich.box import SIMPLE_HEAD
from rich.table import Table

from eval.datasets.files import rows_of
from eval.datasets.load import GOLD
from eval.datasets.scenarios import HALVES, Scenario, Turn, Words, load_exchanges
from eval.gold import Half
from eval.natural.judge import Outcome, share
from eval.natural.play import play
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import InvalidInputError, StoreUnavailableError
from semantic_memory.domain.messages import Role
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Content, Identifier, Value
from semantic_memory.entrypoints.cli import show
from semantic_memory.settings import load

TOLD = GOLD / "voices_told.jsonl"

_START = datetime(2025, 1, 6, 18, tzinfo=UTC)
_SESSIONS: tuple[tuple[int, Sequence[Literal["old", "new"] | None]], ...] = (
    (0, (None, None, "old", None)),
    (9, (None, None, None)),
    (24, (None, None, None)),
    (45, (None, "new", None)),
)
"""Days after the start and, in turn, exchanges of other talk and the two statements."""
_APART = 7  # exchanges between the first ones of two rows
_SECTION = re.compile(r"<([a-z]+)>")
_NUMBERED = re.compile(r"\d+ ")


class _Row(Value):
    id: Identifier
    half: Half
    writer: Identifier
    older: Content
    newer: Content
    over: bool
    """True if the newer statement ends the older one."""
    ask: Content
    old: tuple[str, ...] = Field(min_length=1)
    new: tuple[str, ...] = Field(min_length=1)
    """Words as in `eval.datasets.scenarios.Words`."""


@dataclass(frozen=True)
class Reading:
    """The block of a row as a model reads it: its lines, in order, by the values they carry."""

    outcome: Outcome
    tokens: int

    @property
    def is_update(self) -> bool:
        """True if the newer statement ends the older one."""
        return self.outcome.scenario.retires

    @property
    def new_in_block(self) -> bool:
        """True if a line carries the new value."""
        return any(new for _, new, _ in self._lines)

    @property
    def old_in_block(self) -> bool:
        """True if a line carries the old value and isn't marked as over."""
        return any(old for old, _, _ in self._lines)

    @property
    def misleads(self) -> bool:
        """True if the old value stands unmarked, and the new one is absent or isn't the last."""
        carrying = [(old, new) for old, new, _ in self._lines if old or new]
        return self.old_in_block and not carrying[-1][1]

    @property
    def old_in_core(self) -> bool:
        """True if a line of the core carries the old value and isn't marked as over."""
        return any(old for old, _, section in self._lines if section == "core")

    @cached_property
    def _lines(self) -> list[tuple[bool, bool, str]]:
        """By line: whether it carries the old value, unmarked, or the new one; and its section."""
        outcome = self.outcome
        shown = zip(outcome.lines, sections(outcome.block), strict=True)
        return [
            (outcome.is_standing(line) and not outcome.is_new(line), outcome.is_new(line), section)
            for line, section in shown
        ]


MEASURES = ("new_in_block", "misleads", "old_in_core")
"""Of updates."""
KEPT = ("old_in_block", "new_in_block")
"""Of look-alikes: the older statement must stand, unmarked."""


def told(path: Path) -> list[Scenario]:
    """Read the rows of a file. Raises NotFoundError, InvalidInputError that names the line."""
    exchanges = list(load_exchanges().values())
    rows = [parse(_Row, place, row) for place, row in rows_of(path)]
    return [_scenario(row, number, exchanges) for number, row in enumerate(rows)]


def read(scenarios: Sequence[Scenario], outcomes: Sequence[Outcome]) -> list[Reading]:
    """Return what a model reads in each block."""
    count = TiktokenCounter().count
    return [
        Reading(outcome, count(outcome.block))
        for _, outcome in zip(scenarios, outcomes, strict=True)
    ]


def sections(block: str) -> list[str]:
    """Return the section of each numbered line of a block in the default template."""
    found: list[str] = []
    section = ""
    for line in block.splitlines():
        if opened := _SECTION.fullmatch(line):
            section = opened[1]
        elif _NUMBERED.match(line) and line.startswith(f"{len(found) + 1} "):
            found.append(section)
    return found


def figures(readings: Sequence[Reading]) -> dict[str, float]:
    """Return the shares of updates and look-alikes, and the mean number of tokens."""
    updates = [one for one in readings if one.is_update]
    kept = [one for one in readings if not one.is_update]
    return {
        "updates": len(updates),
        **{name: share([getattr(one, name) for one in updates]) for name in MEASURES},
        "look-alikes": len(kept),
        **{f"kept {name}": share([getattr(one, name) for one in kept]) for name in KEPT},
        "tokens": sum(one.tokens for one in readings) / max(1, len(readings)),
    }


def voices(
    file: Annotated[Path, typer.Argument(help="Rows, JSONL.")] = TOLD,
    half: Annotated[str, typer.Option(help="Rows: build, measure or both.")] = "both",
    rows: Annotated[Path | None, typer.Option(help="Write every row with its block.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure whether blocks of 600 tokens show what is current after a change was told."""
    if half not in (*HALVES, "both"):
        raise InvalidInputError(f"unknown half {half!r}: use {', '.join(HALVES)} or both")
    scenarios = [one for one in told(file) if half in (one.half, "both")]
    if not scenarios:
        raise InvalidInputError(f"{file} has no row of the half {half!r}")
    with show.progress(quiet=False) as report:
        outcomes = play(scenarios, make_embedder(load()), report)
    readings = read(scenarios, outcomes)
    if rows is not None:
        _write(rows, readings)
    parts = {
        name: figures([one for one in readings if one.outcome.scenario.half == name])
        for name in HALVES
        if half in (name, "both")
    }
    if as_json:
        print(json.dumps(parts))
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in parts:
        table.add_column(name, justify="right")
    for measure in figures([]):
        table.add_row(measure, *(_written(measure, part[measure]) for part in parts.values()))
    show.out.print(table)


def _scenario(row: _Row, number: int, exchanges: Sequence[Sequence[Any]]) -> Scenario:
    said = {"old": row.older, "new": row.newer}
    place = number * _APART
    position = 0
    sessions = []
    for days, parts in _SESSIONS:
        turns: list[Turn] = []
        at = _START + timedelta(days=days, minutes=number)
        for part in parts:
            if part is not None:
                spoken: list[tuple[Role, str]] = [("user", said[part])]
            else:
                exchange = exchanges[place % len(exchanges)]
                spoken = [(one.role, one.content) for one in exchange]
                place += 1
            for role, content in spoken:
                moment = at + timedelta(minutes=len(turns))
                turns.append(Turn(position, role, content, moment, part, chatter=part is None))
                position += 1
        sessions.append(tuple(turns))
    return Scenario(
        id=row.id,
        half=row.half,
        kind="update" if row.over else "look-alike",
        type=row.writer,
        style="messy",
        domain="private",
        ask=row.ask,
        sessions=tuple(sessions),
        old=Words.of(row.old),
        new=Words.of(row.new),
    )


def _written(measure: str, value: float) -> str:
    counted = measure in ("updates", "look-alikes", "tokens")
    return f"{value:.0f}" if counted else f"{100 * value:.0f} %"


def _write(path: Path, readings: Sequence[Reading]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            for row in map(_row, readings):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error


def _row(reading: Reading) -> Mapping[str, Any]:
    scenario = reading.outcome.scenario
    return {
        "id": scenario.id,
        "ask": scenario.ask,
        "older": scenario.told("old").content,
        "newer": scenario.told("new").content,
        **{name: getattr(reading, name) for name in (*MEASURES, "old_in_block")},
        "tokens": reading.tokens,
        "block": reading.outcome.block,
    }
