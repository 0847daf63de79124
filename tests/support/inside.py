"""The parts of an open memory, for tests that look at the ledger or hold the background still.

The one place where tests reach behind the facade.
"""

from __future__ import annotations

from dataclasses import dataclass

from ingest.session_log import SessionLog
from semantic_memory import SemanticMemory
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.bootstrap import UseCases
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.profile.rollup import Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.vectors.sync import IndexKeeper


@dataclass(frozen=True)
class Parts:
    """The parts that the use cases of a store share."""

    ledger: Ledger
    log: SessionLog
    keeper: IndexKeeper
    index: ExactIndex
    pipeline: Pipeline
    resolver: Resolver
    rollup: Rollup
    upkeep: Upkeep
    uses: Uses
    clock: Clock


def inside(memory: SemanticMemory | UseCases) -> Parts:
    """The parts of `memory`."""
    use_cases = memory._use_cases if isinstance(memory, SemanticMemory) else memory
    maintenance, conversations = use_cases.maintenance, use_cases.conversations
    upkeep = maintenance.jobs
    return Parts(
        ledger=maintenance._ledger,
        log=conversations._log,
        keeper=maintenance._keeper,
        index=use_cases.recall._searcher._index,
        pipeline=maintenance._pipeline,
        resolver=upkeep._resolver,
        rollup=upkeep._rollup,
        upkeep=upkeep,
        uses=upkeep._uses,
        clock=conversations._clock,
    )
