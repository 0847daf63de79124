"""Commands `python -m eval statements`, `languages`, `core` and `own-speech`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from eval import core as needs
from eval import languages as tongues
from eval import own_speech as speech
from eval import statements as single
from eval.gold import Half, grouped, read_gold
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock

DataFile = Annotated[Path | None, typer.Option("--data", help="Another file of the same form.")]
RowsFile = Annotated[Path | None, typer.Option("--rows", help="Write every item's row, JSONL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")]
HalfChoice = Annotated[Half | None, typer.Option(help="Only one half of the items.")]

Figures = Mapping[str, float | None]

_STATEMENTS = {
    "items": "items",
    "expected facts found": "found",
    "nothing where nothing is due": "silent",
    "several facts, all found": "whole",
    "given facts that are expected": "due",
    "given facts that stand alone": "alone",
    "polarity right": "sign",
    "category right": "class",
    "date right": "date",
}
_LANGUAGES = {
    "pairs": "pairs",
    "added: merged or retired": "added, lost",
    "told: merged or retired": "told, lost",
    "duplicates merged": "doubles merged",
    "statements kept": "kept",
    "Success@1": "S@1",
    "Success@5": "S@5",
}
_CORE = {
    "requests": "requests",
    "needed core facts in the block": "needed",
    "needed core facts in the core": "in the core",
    "all needed facts in the block": "all needed",
    "requests with every core fact": "complete",
    "private in the core": "private, core",
    "private in the block": "private",
}
_SPEECH = {
    "attacks": "attacks",
    "spoke": "spoke",
    "ended": "ended",
    "ordered": "ordered",
    "asked to forget": "asked to forget",
    "found as material": "found",
}
"""Headings of the measures."""


def statements(
    data: DataFile = None, half: HalfChoice = None, rows: RowsFile = None, as_json: AsJson = False
) -> None:
    """Measure which single statements become facts, and that the facts are right."""
    items = [
        item
        for item in read_gold("statements", single.Item, data)
        if half is None or item.half == half
    ]
    with opened() as (memory, clock), show.progress(quiet=False) as report:
        outcomes = single.tell(memory, clock, items, report)
    _write(rows, map(single.row, outcomes))
    kinds = grouped(outcomes, lambda one: one.item.kind)
    _show("kind", {kind: single.figures(own) for kind, own in kinds.items()}, _STATEMENTS, as_json)


def languages(data: DataFile = None, rows: RowsFile = None, as_json: AsJson = False) -> None:
    """Measure other languages: pairs merged, statements kept as facts, questions answered."""
    items = read_gold("languages", tongues.Item, data)
    with opened() as (memory, clock), show.progress(quiet=False) as report:
        outcomes = tongues.tell(memory, clock, items, report)
    _write(rows, map(tongues.row, outcomes))
    groups = grouped(outcomes, lambda one: one.item.language)
    _show(
        "language",
        {name: tongues.figures(own) for name, own in groups.items()},
        _LANGUAGES,
        as_json,
    )


def core(
    data: DataFile = None,
    half: HalfChoice = None,
    budget: Annotated[int, typer.Option(min=1, help="Tokens of a block.")] = 500,
    rows: RowsFile = None,
    as_json: AsJson = False,
) -> None:
    """Measure that blocks have the core facts that requests need, and nothing private."""
    users = read_gold("core", needs.User, data)
    with opened() as (memory, clock), show.progress(quiet=False) as report:
        outcomes = needs.ask(memory, clock, users, budget, report, half)
    _write(rows, map(needs.row, outcomes))
    groups = grouped(outcomes, lambda one: one.half)
    _show("half", {name: needs.figures(own) for name, own in groups.items()}, _CORE, as_json)


def own_speech(
    data: DataFile = None, half: HalfChoice = None, rows: RowsFile = None, as_json: AsJson = False
) -> None:
    """Measure that text of others speaks for nobody, and that own statements are read."""
    attacks = [
        attack
        for attack in read_gold("own_speech", speech.Attack, data)
        if half is None or attack.half == half
    ]
    with (
        opened() as (memory, clock),
        show.progress(quiet=False) as report,
        TemporaryDirectory(prefix="semantic-memory-eval-") as files,
    ):
        outcomes = speech.attack_all(memory, clock, attacks, Path(files), report)
    _write(rows, map(speech.row, outcomes))
    groups = grouped(outcomes, lambda one: one.attack.door)
    _show("door", {name: speech.figures(own) for name, own in groups.items()}, _SPEECH, as_json)
    own = [is_own for _, is_own in speech.own_statements()]
    if not as_json:
        show.out.print(f"own statements read: {sum(own)} of {len(own)}")


@contextmanager
def opened() -> Iterator[tuple[SemanticMemory, FrozenClock]]:
    """Open an empty store with the default settings, and the clock that it reads."""
    clock = FrozenClock()
    with TemporaryDirectory(prefix="semantic-memory-eval-") as directory:
        settings = Settings(data_dir=Path(directory))
        with SemanticMemory.open(settings=settings, clock=clock) as memory:
            yield memory, clock


def _show(
    group: str, figures: Mapping[str, Figures], columns: Mapping[str, str], as_json: bool
) -> None:
    if as_json:
        rounded = {name: _rounded(own) for name, own in figures.items()}
        print(json.dumps({**rounded.pop("all"), f"by_{group}": rounded}))
    else:
        show.out.print(_table(group, figures, columns))


def _table(first: str, figures: Mapping[str, Figures], columns: Mapping[str, str]) -> Table:
    table = Table(
        Column(first, no_wrap=True),
        *columns.values(),
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for name, own in figures.items():
        table.add_row(name, *(_cell(own[measure]) for measure in columns))
    return table


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.0%}"


def _rounded(figures: Figures) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 4) for name, value in figures.items()}


def _write(path: Path | None, rows: Iterable[Mapping[str, object]]) -> None:
    if path is None:
        return
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    try:
        path.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error
