"""Comparison of systems on a data set, and ablation of the ranking's parts."""

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
    """Effect of switching one part of the ranking off."""

    part: str
    was: float
    figure: float
    """Value of the measure without the part."""
    difference: Difference
    """Difference of the measure without the part to that with it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Resources shared by all systems of a run."""

    embedder: CachingEmbedder
    counter: TokenCounter
    scratch: Path


@contextmanager
def bench(cache: Path | None, *, remember_queries: bool = False) -> Iterator[Bench]:
    """Provide an embedder with cache, a token counter, and a temporary directory."""
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
    """Results of a run."""

    dataset: DataSet
    results: Sequence[Result]
    skipped: Sequence[str]
    """Reasons for which requested systems are missing."""
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
    rerank: bool = False,
) -> Comparison:
    """Run every system over `dataset`; `ablate` is the measure of an ablation of this product.

    This product reorders the hits of its searches by its reranker if `rerank`.

    Skips a system whose package is missing. Raises MissingDependencyError if none is left.
    """
    results, skipped, ablations = [], [], []
    for name in names:
        directory = shared.scratch / name
        directory.mkdir(mode=0o700)
        try:
            system = build_system(name, shared.embedder, directory, rerank=rerank)
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
    """Return the weights of the ranking by name."""
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
    """Switch each part of the ranking off by itself; return the costliest part first."""
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
