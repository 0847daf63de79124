"""The one place where concrete parts meet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from ingest.encryption import Cipher, read_keys
from ingest.gate import Gate
from ingest.session_log import Patience, SessionLog
from semantic_memory.application.conversations import Conversations
from semantic_memory.application.doctor import Doctor
from semantic_memory.application.edits import Edits
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.expiring import Expiring
from semantic_memory.application.explain import Explain
from semantic_memory.application.forgetting import Forgetting
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.lookup import Lookup
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.map import Map
from semantic_memory.application.naming import Naming
from semantic_memory.application.open_session import OpenSession
from semantic_memory.application.private_files import make_private
from semantic_memory.application.profiles import Profiles
from semantic_memory.application.recall import Recall
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.statistics import Statistics
from semantic_memory.application.transfer import Transfer
from semantic_memory.bootstrap.models import (
    make_condenser,
    make_embedder,
    make_extractor,
    make_judge,
    make_summarizer,
)
from semantic_memory.bootstrap.write_path import make_pipeline
from semantic_memory.concurrency import SystemClock
from semantic_memory.consolidation.fading import Fading
from semantic_memory.consolidation.judges.rules import RuleJudge
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.context.choose import Policy
from semantic_memory.context.pack import Packer
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.domain.errors import (
    ConfigurationError,
    EmbedderMismatchError,
)
from semantic_memory.domain.observers import log_event
from semantic_memory.domain.ports import (
    Clock,
    Embedder,
    EmbedderIdentity,
    Extractor,
    Ledger,
    Observer,
    TokenCounter,
    VectorIndex,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.ledger.memory import MemoryLedger
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.session_records import fading_of
from semantic_memory.pipeline.stage import INDEX, WHOLE
from semantic_memory.profile.fields import Extent
from semantic_memory.profile.rollup import Extents, Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.retrieval.search import Searcher
from semantic_memory.session.limits import WindowPolicy
from semantic_memory.session.memory_files import Caps, MemoryFiles, standard_directories
from semantic_memory.settings import ContextSettings, Settings
from semantic_memory.vectors.embedders.checked import CheckedEmbedder
from semantic_memory.vectors.home import ChromaDirectory, GivenIndex
from semantic_memory.vectors.sync import IndexKeeper

_EMBEDDER = "embedder"  # key in the ledger's meta
_MEGABYTES = 32  # for the users searched last
_THREADS = 4  # of the pipeline: one may wait for a model, one for the index


def _threads(settings: Settings) -> int:
    return _THREADS if settings.ingest.background else 0


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that replace the defaults; None keeps the default."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    index: VectorIndex | None = None
    token_counter: TokenCounter | None = None
    clock: Clock | None = None
    observer: Observer | None = None


@dataclass(frozen=True, slots=True)
class SharedParts:
    """Parts that several use cases share, for tests that look behind them."""

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


@dataclass(frozen=True, slots=True)
class UseCases:
    """The use cases of an open store, each given the parts it needs."""

    settings: Settings
    conversations: Conversations
    open_session: OpenSession
    recall: Recall
    lookup: Lookup
    edits: Edits
    forgetting: Forgetting
    explain: Explain
    map: Map
    profiles: Profiles
    transfer: Transfer
    statistics: Statistics
    doctor: Doctor
    maintenance: Maintenance
    shared: SharedParts
    resources: ExitStack

    def close(self) -> None:
        """Stop the background, then release files and the lock, whatever fails on the way."""
        self.resources.close()


def build(settings: Settings, parts: Parts, *, reembedding: bool = False) -> UseCases:
    """Open the store in `settings.data_dir` and start its background work.

    Raises StoreLockedError, StoreUnavailableError, StoreCorruptError, SchemaTooNewError, and
    EmbedderMismatchError unless `reembedding`.
    """
    directory = settings.data_dir
    clock = parts.clock or SystemClock()
    expiry = Expiry(clock, settings.retention.periods)
    cap = settings.upkeep.cap
    observe = parts.observer or log_event
    make_private(directory)
    with ExitStack() as stack:
        lock = DirectoryLock(directory, settings.lock_seconds)
        stack.callback(lock.release)
        ledger = make_ledger(settings, observe)
        stack.callback(ledger.close)
        embedder = CheckedEmbedder(parts.embedder or make_embedder(settings))
        runner = Runner(observe, settings.ingest.retry_seconds, _threads(settings))
        keeper = IndexKeeper(
            ChromaDirectory(directory / "chroma", settings.index.sync_threshold)
            if parts.index is None
            else GivenIndex(parts.index),
            ledger,
            observe,
            own_at=settings.index.exact_limit,
            lags=partial(runner.hint, INDEX, WHOLE),
        )
        index = ExactIndex(
            ledger,
            keeper,
            budget_bytes=(settings.index.exact_megabytes or _MEGABYTES) * 1_000_000,
            limit=settings.index.exact_limit,
        )
        if reembedding:
            keeper.reset()  # first, so that no index is left with vectors that the ledger forgot
            record_embedder(ledger, embedder.identity)
        else:
            check_embedder(ledger, embedder.identity)
        patience = Patience(settings.log.patience_seconds, settings.log.patience_bytes)
        log = SessionLog(directory / "sessions", observe, make_cipher(settings), patience)
        ingest = settings.ingest
        rules = RuleJudge()
        resolver = Resolver(
            ledger, index, clock, rules, make_judge(settings, rules, observe, stack), expiry
        )
        counter = parts.token_counter or TiktokenCounter(encoding_name(settings.context.model))
        rollup = Rollup(
            ledger,
            embedder,
            counter,
            make_condenser(settings, observe, stack),
            clock,
            _extents(settings),
            settings.half_lives,
        )
        gate = Gate(ingest.min_confidence, ingest.personal_data)
        extractor = parts.extractor or make_extractor(settings, embedder, observe, stack)
        pipeline = make_pipeline(
            settings,
            ledger,
            log,
            gate,
            embedder,
            extractor,
            resolver,
            rollup,
            keeper,
            runner,
            clock,
            expiry,
            observe,
            stack,
        )
        weights = Weights(**settings.retrieval.model_dump())
        searcher = Searcher(
            ledger,
            index,
            embedder,
            clock,
            weights,
            settings.half_lives,
            partial(fading_of, ledger),
            observe,
            settings.curve,
        )

        stack.callback(keeper.close)
        keeper.inspect()
        windows = directory / "working"
        erasing = Erasing(ledger, pipeline, windows, clock, observe)
        erasing.resume()
        pipeline.start()
        uses = Uses()
        upkeep = Upkeep(
            ledger,
            resolver,
            rollup,
            Compactor(ledger, pipeline, erasing, keeper.purge),
            Expiring(ledger, expiry),
            uses,
            clock,
            observe,
            _fading(settings),
        )
        stack.callback(pipeline.close)
        if settings.upkeep.schedule:
            from semantic_memory.application.jobs.scheduler import Scheduler

            scheduler = Scheduler(upkeep, ledger, clock, settings.upkeep.intervals)
            scheduler.start()
            stack.callback(scheduler.close)
        else:
            stack.callback(upkeep.close)
        packer_for = partial(make_packer, settings.context)
        filtering = FilterResolver(ledger, clock)
        files_in = partial(make_memory_files, settings, observe)
        recall = Recall(
            ledger,
            searcher,
            packer_for(counter),
            uses,
            filtering,
            clock,
            expiry,
            observe,
            settings.context.candidates,
            files_in(None),
            counter,
            settings.context.memory_files,
        )
        return UseCases(
            settings=settings,
            conversations=Conversations(ledger, log, pipeline, clock, expiry),
            open_session=OpenSession(
                ledger,
                log,
                pipeline,
                recall,
                packer_for,
                settings.context.model,
                counter,
                WindowPolicy(**settings.window.policy),
                windows,
                clock,
                observe,
                make_summarizer(settings, observe, stack),
                files_in,
            ),
            recall=recall,
            lookup=Lookup(ledger, filtering, clock, expiry),
            edits=Edits(ledger, embedder, gate, clock, expiry, cap, erasing, pipeline.changed),
            forgetting=Forgetting(
                ledger, pipeline, erasing, windows, filtering, Naming(ledger, embedder), gate
            ),
            explain=Explain(ledger, _fading(settings), clock, expiry),
            map=Map(ledger, expiry),
            profiles=Profiles(ledger, rollup, gate, clock, expiry),
            transfer=Transfer(
                ledger, log, pipeline, filtering, gate, clock, expiry, cap, pipeline.changed
            ),
            statistics=Statistics(ledger, log, embedder.identity, directory),
            doctor=Doctor(ledger, log, keeper, embedder.identity, directory),
            maintenance=Maintenance(ledger, pipeline, keeper, upkeep),
            shared=SharedParts(
                ledger, log, keeper, index, pipeline, resolver, rollup, upkeep, uses, clock
            ),
            resources=stack.pop_all(),
        )


def make_ledger(settings: Settings, observe: Observer) -> Ledger:
    """Open the ledger that the settings name."""
    match settings.ledger.store:
        case "sqlite":
            return SqliteLedger(settings.data_dir / "ledger.sqlite3", observe)
        case "memory":
            return MemoryLedger(observe)


def check_embedder(ledger: Ledger, identity: EmbedderIdentity) -> None:
    """Check that the vectors in the ledger are this embedder's; record it in a new ledger.

    Raises EmbedderMismatchError.
    """
    stored = ledger.meta(_EMBEDDER)
    if stored is None:
        record_embedder(ledger, identity)
    elif (known := EmbedderIdentity(**json.loads(stored))) != identity:
        raise EmbedderMismatchError(
            f"this store was embedded with {known}, the settings say {identity}: set the model"
            " back, or run `semantic-memory reembed` to embed every memory anew"
        )


def record_embedder(ledger: Ledger, identity: EmbedderIdentity) -> int:
    """Record the ledger's embedder; return the number of memories to embed (again)."""
    return ledger.drop_vectors(_EMBEDDER, json.dumps(asdict(identity)))


def _fading(settings: Settings) -> Fading:
    upkeep = settings.upkeep
    return Fading(
        loss_per_week=upkeep.loss_per_week,
        floor=upkeep.floor,
        cap=upkeep.cap,
        half_life_days=settings.half_lives,
        curve=settings.curve,
    )


def _extents(settings: Settings) -> Extents:
    profile = settings.profile
    return Extents(
        Extent(profile.sentences, profile.tokens),
        {
            "recent_months": Extent(profile.recent_sentences, profile.recent_tokens),
            "earlier_context": Extent(profile.earlier_sentences, profile.earlier_tokens),
            "long_term_background": Extent(profile.long_term_sentences, profile.long_term_tokens),
        },
        profile.ages,
    )


def make_cipher(settings: Settings) -> Cipher | None:
    """Make the cipher of the session logs; None leaves them in plain text."""
    match settings.log.key, settings.log.key_file:
        case None, None:
            return None
        case key, None if key is not None:
            return Cipher(key.get_secret_value().replace(",", " ").split())
        case None, file if file is not None:
            return Cipher(read_keys(file, settings.data_dir))
        case _:
            raise ConfigurationError("log.key and log.key_file are both set: give one of them")


def make_memory_files(
    settings: Settings, observe: Observer, directories: Sequence[Path] | None
) -> MemoryFiles:
    """Make the memory files of `directories`, else of those in the settings or the usual ones."""
    window = settings.window
    if directories is None:
        directories = window.memory_directories
    if directories is None:
        directories = standard_directories()
    caps = Caps(window.memory_file_lines, window.memory_file_bytes)
    return MemoryFiles(directories, caps, observe)


def make_packer(context: ContextSettings, counter: TokenCounter) -> Packer:
    """Make a packer for the model whose tokens `counter` counts."""
    policy = Policy(
        shares=context.shares,
        diversity=context.diversity,
        floor=context.floor,
        weakest=context.weakest,
        overview=context.overview,
        asked=context.asked,
    )
    return Packer(counter, context.template, policy)
