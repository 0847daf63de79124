"""The background work of a process, one of several on a ledger and a log that they share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ingest.gate import Gate
from semantic_memory.application.asking import Asking
from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.expiring import Expiring
from semantic_memory.application.feed import FeedPruning
from semantic_memory.application.forget_checks import ForgetChecks
from semantic_memory.application.forgetting import Forgetting
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.naming import Naming
from semantic_memory.application.proving import Prover
from semantic_memory.application.receipts import Receipts
from semantic_memory.application.reserve import Reserve
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.tracing import Tracer
from semantic_memory.application.trail import Trail
from semantic_memory.bootstrap.write_path import make_pipeline
from semantic_memory.consolidation.fading import Fading
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.events import Event
from semantic_memory.domain.ports import Clock, Extractor, Ledger, SessionLog
from semantic_memory.domain.retention import Expiry
from semantic_memory.ledger.ram_traces import RamTraces
from semantic_memory.pipeline.leasing import Leasing
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.runner import Runner
from semantic_memory.profile.history import Extent
from semantic_memory.profile.rollup import Extents, Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.session.state_files import StateFiles
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import HashEmbedder
from semantic_memory.vectors.keeper import LedgerKeeper
from tests.support.judges import READ, plain_pair_judge

_EXTENT = Extent(sentences=10, tokens=1_000)


@dataclass(frozen=True, slots=True)
class Worker:
    """Parts of a process that work in the background."""

    pipeline: Pipeline
    upkeep: Upkeep
    embedder: HashEmbedder
    resources: ExitStack

    def close(self) -> None:
        self.pipeline.close()
        self.resources.close()


def make_worker(
    directory: Path,
    ledger: Ledger,
    log: SessionLog,
    leasing: Leasing,
    extractor: Extractor,
    clock: Clock,
    observe: Callable[[Event], None],
    *,
    threads: int = 2,
    quiet_seconds: float = 0.0,
) -> Worker:
    """Return a worker, which is yet to be started."""
    resources = ExitStack()
    resources.callback(leasing.close)
    ingest = IngestSettings(
        quiet_seconds=quiet_seconds, most_wait_seconds=quiet_seconds, retry_seconds=0.1
    )
    settings = Settings(data_dir=directory, ingest=ingest)
    embedder, gate, expiry = HashEmbedder(), Gate(), Expiry(clock, settings.retention.periods)
    keeper = LedgerKeeper(ledger)
    index = ExactIndex(ledger, keeper, budget_bytes=1_000_000, limit=1_000)
    resolver = Resolver(ledger, index, clock, plain_pair_judge(), READ, None, expiry)
    extents = Extents(
        10,
        {
            "recent_months": _EXTENT,
            "earlier_context": _EXTENT,
            "long_term_background": _EXTENT,
        },
        settings.profile.ages,
    )
    rollup = Rollup(ledger, embedder, TiktokenCounter(), None, clock, READ, extents)
    runner = Runner(observe, ingest.retry_seconds, threads, leasing)
    files = StateFiles(directory / "working", observe, SystemDisk())
    pipeline = make_pipeline(
        settings,
        ledger,
        log,
        files,
        gate,
        embedder,
        extractor,
        resolver,
        rollup,
        keeper,
        index,
        runner,
        clock,
        expiry,
        observe,
        resources,
    )
    trail, items = Trail(ledger, 10), ItemStore(ledger, embedder, gate, clock, observe)
    upkeep = Upkeep(
        ledger,
        resolver,
        rollup,
        Compactor(ledger, pipeline, lambda _: None),
        Expiring(ledger, expiry, observe),
        items,
        FeedPruning(ledger, 1_000, lambda: None),
        Uses(),
        trail,
        clock,
        observe,
        Fading(
            loss_per_week=0.1,
            floor=0.0,
            cap=1_000,
            half_life_days=settings.half_lives,
            curve=settings.curve,
        ),
        leasing,
        DeadLetters(ledger),
    )
    reserve = Reserve(directory, SystemDisk())
    forgetting = Forgetting(
        ledger,
        pipeline,
        Erasing(ledger, pipeline, files, reserve, clock, observe),
        files,
        reserve,
        FilterResolver(ledger, clock),
        Naming(ledger, embedder),
        ForgetChecks(ledger, Naming(ledger, embedder)),
        gate,
        Prover(
            ledger,
            Maintenance(ledger, pipeline, keeper, upkeep, items),
            lambda: (),
            Receipts(ledger, clock),
        ),
        trail,
        Tracer(RamTraces(), clock, share=0.0, days=1, most=0, texts=False),
        clock,
    )
    runner.add(Asking(ledger, pipeline, forgetting, clock, observe, at_once=True, withholds=False))
    return Worker(pipeline, upkeep, embedder, resources)
