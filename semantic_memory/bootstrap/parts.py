"""The parts of a store: replacements that a caller gives, and the built parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from pydantic import BaseModel

from semantic_memory.application.asking import Asking
from semantic_memory.application.conversations import Conversations
from semantic_memory.application.doctor import Doctor
from semantic_memory.application.edits import Edits
from semantic_memory.application.explain import Explain
from semantic_memory.application.feed import Feed
from semantic_memory.application.forgetting import Forgetting
from semantic_memory.application.inspection import Inspection
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.lookup import Lookup
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.map import Map
from semantic_memory.application.open_session import OpenSession
from semantic_memory.application.profiles import Profiles
from semantic_memory.application.recall import Recall
from semantic_memory.application.receipts import Receipts
from semantic_memory.application.review import Review
from semantic_memory.application.statistics import Statistics
from semantic_memory.application.trail import Trail
from semantic_memory.application.transfer import Transfer
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.ports import (
    Clock,
    Embedder,
    Extractor,
    Ledger,
    Observer,
    SessionLog,
    TokenCounter,
    VectorIndex,
)
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.judging.ports import PairJudge, SentenceJudge
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.profile.rollup import Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.reranking import Reranker
from semantic_memory.settings import Settings
from semantic_memory.vectors.keeper import Keeper


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that replace the defaults; None keeps the default."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    index: VectorIndex | None = None
    token_counter: TokenCounter | None = None
    clock: Clock | None = None
    observer: Observer | None = None
    pair_judge: PairJudge | None = None
    sentence_judge: SentenceJudge | None = None
    disk: Disk | None = None
    reranker: Reranker | None = None
    types: Sequence[type[BaseModel]] = ()


@dataclass(frozen=True, slots=True)
class SharedParts:
    """Parts that several use cases share, for tests that look behind them."""

    ledger: Ledger
    log: SessionLog
    keeper: Keeper
    index: ExactIndex
    pipeline: Pipeline
    resolver: Resolver
    rollup: Rollup
    upkeep: Upkeep
    uses: Uses
    clock: Clock


@dataclass(frozen=True, slots=True)
class UseCases:
    """The use cases of an open store, each given the parts it needs."""

    settings: Settings
    conversations: Conversations
    open_session: OpenSession
    recall: Recall
    trail: Trail
    lookup: Lookup
    edits: Edits
    forgetting: Forgetting
    asking: Asking
    receipts: Receipts
    explain: Explain
    map: Map
    profiles: Profiles
    transfer: Transfer
    items: ItemStore
    review: Review
    feed: Feed
    statistics: Statistics
    doctor: Doctor
    maintenance: Maintenance
    inspection: Inspection
    shared: SharedParts
    resources: ExitStack

    def close(self) -> None:
        """Stop the background, then release files and the lock, whatever fails on the way."""
        self.resources.close()
