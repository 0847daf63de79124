"""Figures of results: means over questions, overall and by kind, at both levels."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.datasets import DataSet, Level
from eval.run import Row
from semantic_memory.domain.errors import StoreUnavailableError

HEADLINE = ("Recall@10", "MRR@10", "nDCG@10", "Success@10", "AllRecall@10")
MEASURES = (*HEADLINE, "Success@1", "Success@5", "Recall@5", "AllRecall@5")


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of one system."""

    system: str
    rows: Sequence[Row]
    take_in_seconds: float

    def answered(self, level: Level) -> list[Row]:
        """Return the rows measured at a level: those of questions with relevant memories."""
        if level == "memory":
            return [row for row in self.rows if row.answerable]
        return [row for row in self.rows if row.relevant_sessions]

    def column(self, measure: str, level: Level) -> np.ndarray:
        """Return a measure of every measured row, of shape (questions,)."""
        return np.array([row.value(measure, level) for row in self.answered(level)])


def mean(rows: Sequence[Row], measure: str, level: Level) -> float:
    """Return the mean of a measure; 0 for no rows."""
    return statistics.fmean(row.value(measure, level) for row in rows) if rows else 0.0


def by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by the kind of their question, sorted."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.question.kind, []).append(row)
    return dict(sorted(kinds.items()))


def percentile(rows: Sequence[Row], share: float) -> float:
    """Return a percentile of latency, in milliseconds."""
    return float(np.percentile([1_000 * row.seconds for row in rows], 100 * share))


def separation(rows: Sequence[Row]) -> float | None:
    """Return the AUROC with which the best score separates answerable from other questions.

    The probability that an answerable question scores above an unanswerable one; 0.5 is chance.
    None unless there are questions of both kinds.
    """
    can = np.array([row.score for row in rows if row.answerable])
    cannot = np.array([row.score for row in rows if not row.answerable])
    if not len(can) or not len(cannot):
        return None
    above = (can[:, None] > cannot[None, :]).mean()
    equal = (can[:, None] == cannot[None, :]).mean()
    return float(above + equal / 2)


def summary(result: Result, level: Level) -> dict[str, Any]:
    """Return the figures of a system as JSON, the data set's own level first."""
    other: Level = "session" if level == "memory" else "memory"
    figures = _at(result, level)
    figures["latency_ms"] = {
        "p50": round(percentile(result.rows, 0.5), 2),
        "p95": round(percentile(result.rows, 0.95), 2),
    }
    figures["tokens_a_query"] = round(statistics.fmean(row.tokens for row in result.rows), 1)
    figures["take_in_seconds"] = round(result.take_in_seconds, 1)
    if survived := survival(result.rows):
        figures["survival"] = survived
    apart = sum(not row.answerable for row in result.rows)
    if (separated := separation(result.rows)) is not None:
        figures["abstention"] = {"questions": apart, "AUROC": round(separated, 4)}
    if result.answered(other):
        figures[f"{other}_level"] = _at(result, other)
    return figures


def survival(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the share of relevant memories in a block by budget, of greedy and own packing."""
    packed = [row for row in rows if row.greedy]
    figures: dict[str, dict[str, float]] = {}
    for budget in packed[0].greedy if packed else ():
        figures[str(budget)] = {
            "greedy": round(statistics.fmean(row.greedy[budget].survival for row in packed), 4),
            "greedy, any": round(statistics.fmean(row.greedy[budget].any for row in packed), 4),
        }
        if packed[0].packed:
            own = [row.packed[budget] for row in packed]
            figures[str(budget)] |= {
                "packed": round(statistics.fmean(one.survival for one in own), 4),
                "packed, any": round(statistics.fmean(one.any for one in own), 4),
                "tokens": round(statistics.fmean(one.tokens for one in own), 1),
            }
            if words := [one.words for one in own if one.words is not None]:
                figures[str(budget)]["answer words"] = round(statistics.fmean(words), 4)
    return figures


def write_rows(path: Path, dataset: DataSet, results: Sequence[Result]) -> None:
    """Write every question's row as a line of JSON. Raises StoreUnavailableError."""
    try:
        with path.open("w", encoding="utf-8") as file:
            for result in results:
                for row in result.rows:
                    file.write(json.dumps(_record(dataset, result.system, row)) + "\n")
    except OSError as error:
        raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error


def _at(result: Result, level: Level) -> dict[str, Any]:
    rows = result.answered(level)
    return {
        **_means(rows, level),
        "questions": len(rows),
        "by_kind": {
            kind: {"questions": len(own), **_means(own, level)}
            for kind, own in by_kind(rows).items()
        },
    }


def _means(rows: Sequence[Row], level: Level) -> dict[str, float]:
    return {name: round(mean(rows, name, level), 4) for name in MEASURES}


def _record(dataset: DataSet, system: str, row: Row) -> dict[str, Any]:
    question = row.question
    return {
        "set": dataset.name,
        "system": system,
        "user": row.user_id,
        "question": question.id,
        "kind": question.kind,
        "query": question.text,
        "relevant": sorted(question.relevant),
        "ranking": row.ranking,
        "score": row.score if row.ranking else None,
        "milliseconds": round(1_000 * row.seconds, 3),
        "tokens": row.tokens,
        "memory": {name: row.value(name, "memory") for name in MEASURES if row.answerable},
        "session": {name: row.value(name, "session") for name in MEASURES if row.relevant_sessions},
        "greedy": {budget: packed.survival for budget, packed in row.greedy.items()},
        "packed": {budget: packed.survival for budget, packed in row.packed.items()},
    }
