"""Search of weights on one half of a data set, reported on the other.

Coordinate ascent: each weight in turn is tried at multiples of its present value, and a change is
kept if the measure rises on the training users; the search ends when a round changes nothing. Users
rather than questions are split, so that the search sees nothing of the reported users.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from pydantic import ValidationError

from eval.datasets import DataSet
from eval.experiment import Bench
from eval.results import Result
from eval.run import ask
from eval.significance import Difference, paired_bootstrap
from eval.systems.ours import Ours
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.ports import Progress
from semantic_memory.retrieval.ranking import Weights

FACTORS = (0.0, 0.5, 0.75, 1.33, 2.0)
_START = 0.1  # value tried for a weight of 0


@dataclass(frozen=True, slots=True)
class Tuning:
    """Outcome of a search for weights."""

    dataset: str
    measure: str
    train_users: tuple[str, ...]
    test_users: tuple[str, ...]
    before: Weights
    after: Weights
    tried: int
    train: tuple[float, float]
    """Measure before and after, on the users tuned on."""
    test: tuple[float, float]
    """Measure before and after, on the other users."""
    difference: Difference
    """Difference of after to before, on the other users."""


def split(dataset: DataSet) -> tuple[DataSet, DataSet]:
    """Split a data set by user, deterministically. Raises InvalidInputError for one user."""
    if len(dataset.histories) < 2:
        raise InvalidInputError("tuning needs at least two users: one to tune on, one to report")
    ordered = sorted(
        dataset.histories,
        key=lambda history: hashlib.blake2b(history.user_id.encode()).digest(),
    )
    half = len(ordered) // 2
    return replace(dataset, histories=ordered[:half]), replace(dataset, histories=ordered[half:])


def tune(dataset: DataSet, measure: str, rounds: int, shared: Bench, progress: Progress) -> Tuning:
    """Search weights for `measure` on one half of the users, and report on the other."""
    train, test = split(dataset)
    ours = Ours(shared.scratch / "store", shared.embedder)
    try:
        ours.take_in(dataset.histories, progress)
        before = best = ours.weights

        def rows(half: DataSet, weights: Weights) -> Result:
            ours.reopen(weights)
            return Result("", ask(ours, half, shared.counter, lambda *_: None), 0.0)

        def figure(half: DataSet, weights: Weights) -> float:
            return float(rows(half, weights).column(measure, dataset.level).mean())

        reached = started = figure(train, before)
        tried = 0
        names = [field.name for field in fields(Weights)]
        for number in range(rounds):
            at_start = best
            for place, name in enumerate(names, start=1):
                for weights in _around(best, name):
                    try:
                        value = figure(train, weights)
                    except ValidationError:
                        continue  # out of the setting's range
                    tried += 1
                    if value > reached:
                        best, reached = weights, value
                progress(f"round {number + 1}: {measure} {reached:.4f}", place, len(names))
            if best == at_start:
                break
        first, last = rows(test, before), rows(test, best)
        columns = [one.column(measure, dataset.level) for one in (last, first)]
    finally:
        ours.close()
    return Tuning(
        dataset.name,
        measure,
        tuple(history.user_id for history in train.histories),
        tuple(history.user_id for history in test.histories),
        before,
        best,
        tried,
        (started, reached),
        (float(columns[1].mean()), float(columns[0].mean())),
        paired_bootstrap(*columns),
    )


def _around(weights: Weights, name: str) -> Iterator[Weights]:
    now = getattr(weights, name)
    values = [now * factor for factor in FACTORS] if now else [_START]
    for value in values:
        yield replace(weights, **{name: round(value, 4)})
