"""Measure what the weight of relevance brings and what it costs.

`data/gold/relevance.jsonl` has small stores of three kinds: a fresh fact beside a stale one of the
same thing, an old preference beside recent trivia, and a statement made on several days beside one
made once. A question is answered if a relevant memory comes first. What the weight costs is the
change of Recall@10 on sets in which age says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.datasets import DataSet
from eval.experiment import Bench
from eval.gold import Half
from eval.results import mean
from eval.run import Row, ask
from eval.systems.ours import Ours
from semantic_memory.domain.ports import Progress

WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
_FIRST = ("Success@1", "MRR@10")
_COST = ("Recall@10",)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of one kind of questions at one weight."""

    weight: float
    kind: str
    measure: str
    value: float


def halves(dataset: DataSet, half: Half | None) -> DataSet:
    """Return the stores of one half: of each kind every second one, from the first on, to build."""
    if half is None:
        return dataset
    own = [
        history
        for place, history in enumerate(dataset.histories)
        if ("measure" if place % 2 else "build") == half
    ]
    return replace(dataset, histories=own)


def sweep(
    gold: DataSet,
    costs: Sequence[DataSet],
    weights: Sequence[float],
    shared: Bench,
    progress: Progress,
) -> Iterator[Figure]:
    """Yield the figures of every weight: on the gold set by kind, and on each set of `costs`."""
    for dataset, measures in [(gold, _FIRST), *((one, _COST) for one in costs)]:
        ours = Ours(_directory(shared.scratch, dataset.name), shared.embedder)
        try:
            ours.take_in(dataset.histories, progress)
            standing = ours.weights
            for weight in weights:
                ours.reopen(replace(standing, relevance=weight))
                rows = ask(ours, dataset, shared.counter, progress, step=f"w = {weight}")
                kind = _kind if dataset is gold else _name(dataset)
                yield from _figures(weight, rows, kind, measures, dataset)
        finally:
            ours.close()


def _figures(
    weight: float,
    rows: Sequence[Row],
    kind: Callable[[Row], str],
    measures: Sequence[str],
    dataset: DataSet,
) -> Iterator[Figure]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(kind(row), []).append(row)
    for name, own in parts.items():
        for measure in measures:
            yield Figure(weight, name, measure, mean(own, measure, dataset.level))


def _kind(row: Row) -> str:
    return row.question.kind


def _name(dataset: DataSet) -> Callable[[Row], str]:
    return lambda _: dataset.name


def _directory(scratch: Path, name: str) -> Path:
    directory = scratch / name
    directory.mkdir(mode=0o700)
    return directory
