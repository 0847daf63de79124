"""The one place where concrete parts meet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from ingest.gate import Gate
from ingest.session_log import Patience, SessionLog
from semantic_memory.application.asking import Asking
from semantic_memory.application.conversations import Conversations
from semantic_memory.application.doctor import Doctor
from semantic_memory.application.edits import Edits
from semantic_memory.application.encrypting import inspect, refuse_half_converted
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.expiring import Expiring
from semantic_memory.application.explain import Explain
from semantic_memory.application.feed import Feed, FeedPruning
from semantic_memory.application.forgetting import Forgetting
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.keyring import make_encryption
from semantic_memory.application.lookup import Lookup
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.map import Map
from semantic_memory.application.naming import Naming
from semantic_memory.application.open_session import OpenSession
from semantic_memory.application.private_files import make_private
from semantic_memory.application.profiles import Profiles
from semantic_memory.application.proving import Prover
from semantic_memory.application.reading import why_only_read
from semantic_memory.application.recall import Recall
from semantic_memory.application.recovery import Recovery
from semantic_memory.application.reserve import Reserve
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.statistics import Statistics
from semantic_memory.application.trail import Trail
from semantic_memory.application.transfer import Transfer
from semantic_memory.application.webhook import Webhook, delivered
from semantic_memory.bootstrap.models import (
    make_condenser,
    make_embedder,
    make_extractor,
    make_judge,
    make_summarizer,
)
from semantic_memory.bootstrap.storage import make_index_home, make_keeper, make_ledger
from semantic_memory.bootstrap.write_path import make_pipeline
from semantic_memory.concurrency import SystemClock
from semantic_memory.consolidation.fading import Fading
from semantic_memory.consolidation.judges.rules import RuleJudge
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.context.choose import Policy
from semantic_memory.context.pack import Packer
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.disk import ReadingDisk, SystemDisk
from semantic_memory.domain.errors import (
    EmbedderMismatchError,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import OpenedToRead
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
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.retention import Expiry
from semantic_memory.ledger.lock import DirectoryLock, ReadingLock
from semantic_memory.pipeline.leasing import Leasing, LocalLeases
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.session_records import fading_of
from semantic_memory.pipeline.stage import INDEX, WHOLE
from semantic_memory.profile.history import Extent
from semantic_memory.profile.rollup import Extents, Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.retrieval.search import Searcher
from semantic_memory.session.limits import WindowPolicy
from semantic_memory.session.memory_files import Caps, MemoryFiles, standard_directories
from semantic_memory.session.state_files import StateFiles
from semantic_memory.settings import ContextSettings, Settings, UpkeepSettings, WebhookSettings
from semantic_memory.sharing.owner import announced
from semantic_memory.sharing.sharing import Sharing
from semantic_memory.vectors.embedders.checked import CheckedEmbedder
from semantic_memory.vectors.keeper import Keeper

_EMBEDDER = "embedder"  # key in the ledger's meta
_MEGABYTES = 32  # for the users searched last
_THREADS = 4  # of the pipeline: one may wait for a model, one for the index


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that replace the defaults; None keeps the default."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    index: VectorIndex | None = None
    token_counter: TokenCounter | None = None
    clock: Clock | None = None
    observer: Observer | None = None
    disk: Disk | None = None


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
    explain: Explain
    map: Map
    profiles: Profiles
    transfer: Transfer
    items: ItemStore
    feed: Feed
    statistics: Statistics
    doctor: Doctor
    maintenance: Maintenance
    shared: SharedParts
    resources: ExitStack

    def close(self) -> None:
        """Stop the background, then release files and the lock, whatever fails on the way."""
        self.resources.close()


def build(
    settings: Settings,
    parts: Parts,
    *,
    reembedding: bool = False,
    recovering: bool = False,
    sharing: Sharing | None = None,
) -> UseCases:
    """Open the store in `settings.data_dir` and start its background work.

    With `sharing` it is announced while it is open; who serves it is the caller's affair. On a full
    disk, the reserve's room is used. Where nothing may be written even so, it is opened to read,
    and neither changed nor shared. Raises StoreLockedError, StoreUnavailableError,
    StoreCorruptError, SchemaTooNewError, EmbedderMismatchError unless `reembedding`, and
    LedgerBehindError unless `recovering`.
    """
    reserve = Reserve(settings.data_dir, parts.disk or SystemDisk())
    make = partial(_built, settings, parts, reserve, reembedding=reembedding, recovering=recovering)
    try:
        opened = reserve.lend(lambda: make(_to_write(settings, parts, sharing), sharing=sharing))
    except StoreUnavailableError as error:
        reading = why_only_read(settings.data_dir, error)
        if not reading or reembedding or recovering or parts.disk is not None:
            raise
        opened = make(_to_read(settings, reading), sharing=None)
        (parts.observer or log_event)(OpenedToRead(reading))
    else:
        reserve.keep()
    return opened


@dataclass(frozen=True, slots=True)
class _Access:
    """Parts that differ between a store that is written and one that is only read."""

    disk: Disk
    lock: DirectoryLock | ReadingLock
    patience: Patience
    threads: int
    audit: int
    reading: str = ""
    """Why it is only read; empty if it is written."""


def _to_write(settings: Settings, parts: Parts, sharing: Sharing | None) -> _Access:
    make_private(settings.data_dir)
    return _Access(
        parts.disk or SystemDisk(),
        _locked(settings.data_dir, settings.lock_seconds, sharing),
        Patience(settings.log.patience_seconds, settings.log.patience_bytes),
        _THREADS if settings.ingest.background else 0,
        settings.context.audit,
    )


def _to_read(settings: Settings, why: str) -> _Access:
    return _Access(ReadingDisk(), ReadingLock(settings.data_dir), Patience(), 0, 0, why)


def _built(
    settings: Settings,
    parts: Parts,
    reserve: Reserve,
    access: _Access,
    *,
    reembedding: bool,
    recovering: bool,
    sharing: Sharing | None,
) -> UseCases:
    directory, disk, reading = settings.data_dir, access.disk, bool(access.reading)
    with ExitStack() as stack:
        stack.callback(access.lock.release)
        clock = parts.clock or SystemClock()
        expiry = Expiry(clock, settings.retention.periods)
        cap = settings.upkeep.cap
        observe = parts.observer or log_event
        if sharing is not None:
            stack.enter_context(sharing.offered())
        refuse_half_converted(directory)
        encryption = make_encryption(settings)
        # Before the ledger: where the key is wrong, no new ledger is begun.
        log = SessionLog(
            directory / "sessions", observe, disk, encryption, access.patience, reading=reading
        )
        home = None if reading else make_index_home(settings, parts.index, disk, encryption)
        ledger = make_ledger(
            settings,
            observe,
            disk,
            encryption,
            reached=0 if home is None else home.position() or 0,
            recovering=recovering,
            reading=access.reading,
        )
        stack.callback(ledger.close)
        embedder = CheckedEmbedder(parts.embedder or make_embedder(settings))
        leasing = Leasing(LocalLeases())
        stack.callback(leasing.close)
        runner = Runner(observe, settings.ingest.retry_seconds, access.threads, leasing)
        keeper = make_keeper(
            home, ledger, observe, settings.index.exact_limit, partial(runner.hint, INDEX, WHOLE)
        )
        index = ExactIndex(
            ledger,
            keeper,
            budget_bytes=(settings.index.exact_megabytes or _MEGABYTES) * 1_000_000,
            limit=settings.index.exact_limit,
        )
        if reembedding or recovering:
            # First, so that no index is left with vectors or memories that the ledger forgot.
            keeper.reset()
        if reembedding:
            record_embedder(ledger, embedder.identity)
        else:
            check_embedder(ledger, embedder.identity)
        ingest = settings.ingest
        rules = RuleJudge()
        judge = make_judge(settings, rules, observe, stack)
        resolver = Resolver(ledger, index, clock, rules, judge, expiry)
        counter = parts.token_counter or TiktokenCounter(encoding_name(settings.context.model))
        rollup = Rollup(
            ledger,
            embedder,
            counter,
            make_condenser(settings, observe, stack),
            clock,
            _extents(settings),
        )
        files = StateFiles(directory / "working", disk)
        gate = Gate(
            ingest.min_confidence, ingest.personal_data, ingest.secrets, settings.log.secrets
        )
        extractor = parts.extractor or make_extractor(settings, embedder, observe, stack)
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
            runner,
            clock,
            expiry,
            observe,
            stack,
            reading=reading,
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
        erasing = Erasing(ledger, pipeline, files, reserve, clock, observe)
        if not reading:
            erasing.resume()
        if recovering:
            Recovery(ledger, log, erasing).run()
        uses = Uses()
        trail = Trail(ledger, access.audit)
        items = ItemStore(ledger, embedder, gate, clock)
        upkeep = Upkeep(
            ledger,
            resolver,
            rollup,
            Compactor(ledger, pipeline, keeper.purge),
            Expiring(ledger, expiry),
            items,
            make_pruning(settings, ledger),
            uses,
            trail,
            clock,
            observe,
            _fading(settings),
            leasing,
        )
        maintenance = Maintenance(ledger, pipeline, keeper, upkeep, items)
        filtering = FilterResolver(ledger, clock)
        forgetting = Forgetting(
            ledger,
            pipeline,
            erasing,
            files,
            reserve,
            filtering,
            Naming(ledger, embedder),
            gate,
            Prover(ledger, maintenance, directory),
            trail,
            clock,
        )
        at_once = ingest.forget_requests == "at once"
        asking = Asking(ledger, pipeline, forgetting, clock, observe, at_once=at_once)
        runner.add(asking)
        if not reading:
            start_webhook(settings.webhook, ledger, clock, observe, leasing, stack)
            pipeline.start()
        stack.callback(pipeline.close)
        if not reading:
            _keep_up(settings.upkeep, upkeep, ledger, clock, stack)
        packer_for = partial(make_packer, settings.context)
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
            trail,
        )
        return UseCases(
            settings=settings,
            conversations=Conversations(ledger, log, pipeline, clock, expiry, erasing),
            open_session=OpenSession(
                ledger,
                log,
                pipeline,
                recall,
                packer_for,
                settings.context.model,
                counter,
                WindowPolicy(**settings.window.policy),
                files,
                clock,
                observe,
                make_summarizer(settings, observe, stack),
                files_in,
                asking.settled,
                encryption,
            ),
            recall=recall,
            trail=trail,
            lookup=Lookup(ledger, filtering, clock, expiry),
            edits=Edits(ledger, embedder, gate, clock, expiry, cap, erasing, pipeline.changed),
            forgetting=forgetting,
            asking=asking,
            explain=Explain(ledger, _fading(settings), clock, expiry),
            map=Map(ledger, expiry),
            profiles=Profiles(ledger, rollup, gate, clock, expiry),
            transfer=Transfer(
                ledger, log, pipeline, filtering, gate, clock, expiry, cap, pipeline.changed
            ),
            items=items,
            feed=Feed(ledger),
            statistics=Statistics(ledger, log, embedder.identity, directory),
            doctor=Doctor(
                ledger,
                log,
                keeper,
                embedder.identity,
                directory,
                partial(inspect, directory, encryption),
                partial(announced, directory, encryption),
                access.reading,
            ),
            maintenance=maintenance,
            shared=SharedParts(
                ledger, log, keeper, index, pipeline, resolver, rollup, upkeep, uses, clock
            ),
            resources=stack.pop_all(),
        )


def _keep_up(
    settings: UpkeepSettings, upkeep: Upkeep, ledger: Ledger, clock: Clock, stack: ExitStack
) -> None:
    """Run the upkeep by its schedule, or once more when `stack` is closed."""
    if not settings.schedule:
        stack.callback(upkeep.close)
        return
    from semantic_memory.application.jobs.scheduler import Scheduler

    scheduler = Scheduler(upkeep, ledger, clock, settings.intervals)
    scheduler.start()
    stack.callback(scheduler.close)


def _locked(directory: Path, patience: float, sharing: Sharing | None) -> DirectoryLock:
    """Take the lock of a directory. An owner that shares it isn't waited for."""
    if sharing is None:
        return DirectoryLock(directory, patience)
    try:
        return DirectoryLock(directory, patience, in_vain=lambda: sharing.other() is not None)
    except StoreLockedError:
        if (owner := sharing.other()) is None:
            raise
        raise StoreLockedError(
            f"{directory} is in use by {owner.name}, which shares it with commands, agents and"
            " `SemanticMemory.connect`: end that process to open it here"
        ) from None


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
        profile.facts,
        {
            "recent_months": Extent(profile.recent_sentences, profile.recent_tokens),
            "earlier_context": Extent(profile.earlier_sentences, profile.earlier_tokens),
            "long_term_background": Extent(profile.long_term_sentences, profile.long_term_tokens),
        },
        profile.ages,
    )


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


def make_pruning(settings: Settings, ledger: Ledger) -> FeedPruning:
    """Make the pruning of the feed, which leaves what is yet to be delivered to a webhook."""
    delivers = settings.webhook.url is not None
    return FeedPruning(
        ledger, settings.upkeep.events, lambda: delivered(ledger) if delivers else None
    )


def start_webhook(
    settings: WebhookSettings,
    ledger: Ledger,
    clock: Clock,
    observe: Observer,
    leasing: Leasing,
    stack: ExitStack,
) -> None:
    """Deliver events to the endpoint, if there is one, until `stack` is closed.

    Raises ConfigurationError.
    """
    if settings.url is None:
        return
    from semantic_memory.delivery import http_endpoint

    secret = None if settings.secret is None else settings.secret.get_secret_value()
    to = http_endpoint(settings.url, secret)
    webhook = Webhook(ledger, to, settings.kinds, clock, observe, leasing=leasing)
    webhook.start()
    stack.callback(webhook.close)


def make_packer(context: ContextSettings, counter: TokenCounter) -> Packer:
    """Make a packer for the model whose tokens `counter` counts."""
    policy = Policy(
        shares=context.shares,
        diversity=context.diversity,
        floor=context.floor,
        weakest=context.weakest,
        core=context.core,
        history=context.history,
        asked=context.asked,
    )
    return Packer(counter, context.template, policy)
