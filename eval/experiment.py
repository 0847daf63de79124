"""One run: a data set, several systems, one table; and what each part of the ranking is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.cache import CachingEmbedder
from eval.datasets import DataSet
from eval.results import Result
from eval.run import Packer, ask
from eval.significance import Difference, paired_bootstrap
from eval.systems.build import Name, build_system
from eval.systems.ours import Ours
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.domain.errors import MissingDependencyError
from semantic_memory.domain.ports import Progress, TokenCounter
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.settings import load

BUDGETS = (500, 1_000, 2_000)


@dataclass(frozen=True, slots=True)
class Ablation:
    """What switching one part off costs."""

    part: str
    was: float
    figure: float
    """Of the measure, without the part."""
    difference: Difference
    """Without the part minus with it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every system of a run shares."""

    embedder: CachingEmbedder
    counter: TokenCounter
    scratch: Path


@contextmanager
def bench(cache: Path | None, *, remember_queries: bool = False) -> Iterator[Bench]:
    """An embedder with its cache, a token counter, and a directory that is gone afterwards."""
    settings = load()
    embedder = CachingEmbedder(
        make_embedder(settings),
        cache or settings.cache_dir / "eval",
        remember_queries=remember_queries,
    )
    counter = TiktokenCounter(encoding_name(settings.context.model))
    with TemporaryDirectory(prefix="semantic-memory-eval-") as scratch:
        try:
            yield Bench(embedder, counter, Path(scratch))
        finally:
            embedder.close()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of a run."""

    dataset: DataSet
    results: Sequence[Result]
    skipped: Sequence[str]
    """Why a system that was asked for isn't among them."""
    ablations: Sequence[Ablation]
    ablation_measure: str


def compare(
    dataset: DataSet,
    names: Sequence[Name],
    shared: Bench,
    progress: Progress,
    *,
    pack: bool = True,
    ablate: str | None = None,
) -> Comparison:
    """Run every system over `dataset`; `ablate` names the measure for an ablation of ours.

    A system whose package is missing is skipped. Raises MissingDependencyError if none is left.
    """
    results, skipped, ablations = [], [], []
    for name in names:
        directory = shared.scratch / name
        directory.mkdir(mode=0o700)
        try:
            system = build_system(name, shared.embedder, directory)
        except MissingDependencyError as error:
            skipped.append(str(error))
            continue

        def report(step: str, done: int, total: int, name: str = name) -> None:
            progress(f"{name}: {step}", done, total)

        try:
            start = time.perf_counter()
            system.take_in(dataset.histories, report)
            seconds = time.perf_counter() - start
            own = system.packed if isinstance(system, Ours) else None
            packer = Packer(BUDGETS, shared.counter, own) if pack else None
            rows = ask(system, dataset, shared.counter, report, packer=packer)
            results.append(Result(name, rows, seconds))
            if ablate is not None and isinstance(system, Ours):
                ablations = _ablate(system, dataset, shared, results[-1], ablate, report)
        finally:
            system.close()
    if not results:
        raise MissingDependencyError("; ".join(skipped))
    return Comparison(dataset, results, skipped, ablations, ablate or "")


def weights_of(ours: Ours) -> dict[str, float]:
    """What counts how much, by name."""
    weights = ours.weights
    return {field.name: getattr(weights, field.name) for field in fields(Weights)}


def _ablate(
    ours: Ours,
    dataset: DataSet,
    shared: Bench,
    full: Result,
    measure: str,
    progress: Progress,
) -> list[Ablation]:
    """Each part of the ranking switched off by itself, the costliest first."""
    weights = ours.weights
    before = full.column(measure, dataset.level)
    ablations = []
    for part, was in weights_of(ours).items():
        if not was:
            continue
        ours.reopen(replace(weights, **{part: 0.0}))
        rows = ask(ours, dataset, shared.counter, progress, step=f"without {part}")
        column = Result(full.system, rows, 0.0).column(measure, dataset.level)
        difference = paired_bootstrap(column, before)
        ablations.append(Ablation(part, was, float(column.mean()), difference))
    ours.reopen(weights)
    return sorted(ablations, key=lambda one: one.difference.mean)
