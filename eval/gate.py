"""Regression check of retrieval: the shipped set against its stored figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval.datasets.load import GOLD, load_gold
from eval.experiment import Bench, compare
from eval.results import Result, mean
from eval.run import Row
from eval.systems.build import OURS
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.ports import Progress

TOLERANCE = 0.02
MEASURES = ("Recall@10", "MRR@10", "nDCG@10")
EXPECTED = GOLD / "expected.json"

Figures = Mapping[str, Mapping[str, float]]
"""Figures by part of the set, then by measure."""


@dataclass(frozen=True, slots=True)
class Check:
    """A measured figure and the stored one."""

    part: str
    measure: str
    expected: float
    measured: float

    @property
    def passed(self) -> bool:
        """True unless the figure has dropped by more than the tolerance."""
        return self.measured >= self.expected - TOLERANCE - 1e-9


def measured(shared: Bench, progress: Progress) -> dict[str, dict[str, float]]:
    """Measure the present ranking."""
    comparison = compare(load_gold(GOLD), [OURS], shared, progress, pack=False)
    return _figures(comparison.results[0])


def checks(expected: Figures, found: Figures) -> list[Check]:
    """Compare every stored figure with the measured one; a missing one counts as 0."""
    return [
        Check(part, measure, value, found.get(part, {}).get(measure, 0.0))
        for part, figures in expected.items()
        for measure, value in figures.items()
    ]


def read_expected(path: Path = EXPECTED) -> Figures:
    """Read the stored figures. Raises NotFoundError, InvalidInputError."""
    try:
        figures: Figures = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"no file {path}: store figures with `gate --write`") from None
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{path} is not JSON: {error}") from None
    return figures


def write_expected(figures: Figures, path: Path = EXPECTED) -> None:
    """Store figures as the expected ones."""
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _figures(result: Result) -> dict[str, dict[str, float]]:
    parts: dict[str, list[Row]] = {}
    for row in result.answered("memory"):
        parts.setdefault(row.question.kind.partition(":")[0], []).append(row)
    return {
        part: {measure: round(mean(rows, measure, "memory"), 4) for measure in MEASURES}
        for part, rows in parts.items()
    }
