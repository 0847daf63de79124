"""Count outcomes by kind and type: tables, one JSON object, and a row for each scenario."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from eval.datasets.scenarios import HALVES, KINDS, Kind
from eval.natural.judge import Outcome, positions, share
from semantic_memory.domain.errors import StoreUnavailableError


@dataclass(frozen=True, slots=True)
class Measure:
    """The share of scenarios of which something holds."""

    name: str
    holds: Callable[[Outcome], bool]

    def of(self, outcomes: Sequence[Outcome]) -> float:
        """Return the share, 0 to 1."""
        return share([self.holds(outcome) for outcome in outcomes])


_EXTRACTION = (
    Measure("old never extracted", lambda outcome: not outcome.old_extracted),
    Measure("new never extracted", lambda outcome: not outcome.new_extracted),
)
_RETIRING = (
    *_EXTRACTION,
    Measure("old retired", lambda outcome: outcome.retired),
    Measure("new first in search", lambda outcome: outcome.new_first_in_search),
    Measure("new first in block", lambda outcome: outcome.new_first_in_block),
    Measure("new in block", lambda outcome: outcome.new_in_block),
    Measure("old standing in block", lambda outcome: outcome.old_standing),
    Measure("old believed, new not", lambda outcome: outcome.old_believed),
)
MEASURES: Mapping[Kind, tuple[Measure, ...]] = {
    "update": _RETIRING,
    "correction": _RETIRING,
    "look-alike": (
        *_EXTRACTION,
        Measure("retired", lambda outcome: outcome.confused),
    ),
    "paraphrase": (
        *_EXTRACTION,
        Measure("merged", lambda outcome: outcome.united),
    ),
    "near-duplicate": (
        *_EXTRACTION,
        Measure("merged", lambda outcome: outcome.confused),
    ),
}


def tables(outcomes: Sequence[Outcome]) -> Iterator[Table]:
    """Yield a table for each kind: its types, then all of it and its parts."""
    for kind in KINDS:
        own = [outcome for outcome in outcomes if outcome.scenario.kind == kind]
        if not own:
            continue
        table = Table(box=SIMPLE_HEAD, pad_edge=False, title=kind, title_justify="left")
        table.add_column("type", no_wrap=True)
        for name in ("scenarios", *(measure.name for measure in MEASURES[kind])):
            table.add_column(name, justify="right")
        for name, part in {**_by_type(own), **_parts(own)}.items():
            rates = [f"{100 * measure.of(part):.0f} %" for measure in MEASURES[kind]]
            whole = name == "all"
            table.add_row(name, str(len(part)), *rates, style="bold" if whole else None)
        yield table


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures as JSON holds them: by half, by kind, by type."""
    return {
        half: {
            kind: {
                **_rates(kind, own),
                "by_type": {name: _rates(kind, part) for name, part in _by_type(own).items()},
            }
            for kind in KINDS
            for own in [_only(outcomes, half=half, kind=kind)]
            if own
        }
        for half in HALVES
        if _only(outcomes, half=half)
    }


def write_rows(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write what was told, held and answered in each scenario as a line of JSON.

    Raises StoreUnavailableError.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            for outcome in outcomes:
                file.write(json.dumps(_row(outcome), ensure_ascii=False) + "\n")
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error


def _by_type(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    types: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        types.setdefault(outcome.scenario.type, []).append(outcome)
    return types


def _parts(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    parts = {"all": list(outcomes)}
    for name in ("half", "style", "domain"):
        values = sorted({getattr(outcome.scenario, name) for outcome in outcomes})
        if len(values) > 1:
            parts |= {f"all, {value}": _only(outcomes, **{name: value}) for value in values}
    return parts


def _only(outcomes: Sequence[Outcome], **wanted: str) -> list[Outcome]:
    return [
        outcome
        for outcome in outcomes
        if all(getattr(outcome.scenario, name) == value for name, value in wanted.items())
    ]


def _rates(kind: Kind, outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {
        "scenarios": len(outcomes),
        **{measure.name: round(measure.of(outcomes), 4) for measure in MEASURES[kind]},
    }


def _row(outcome: Outcome) -> dict[str, Any]:
    scenario = outcome.scenario
    return {
        "id": scenario.id,
        "half": scenario.half,
        "kind": scenario.kind,
        "old": scenario.told("old").content,
        "new": scenario.told("new").content,
        **{measure.name: measure.holds(outcome) for measure in MEASURES[scenario.kind]},
        "facts": [
            {
                "text": fact.content,
                "status": fact.status.value,
                "said": [scenario.turns[place].content for place in sorted(positions(fact))],
            }
            for fact in outcome.facts
        ],
        "ask": scenario.ask,
        "hits": [hit.text for hit in outcome.hits],
        "block": outcome.block,
    }
