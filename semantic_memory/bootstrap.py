"""The one place where concrete parts meet."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.encryption import Cipher, read_keys
from ingest.extract.breaker import CircuitBreaker
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from ingest.session_log import SessionLog
from semantic_memory.application.edits import Curation
from semantic_memory.application.jobs.compaction import Compactor
from semantic_memory.application.jobs.scheduler import Scheduler
from semantic_memory.application.jobs.upkeep import Upkeep, Uses
from semantic_memory.application.transfer import Transfer
from semantic_memory.consolidation.fading import Fading
from semantic_memory.consolidation.judges.escalating import EscalatingJudge
from semantic_memory.consolidation.judges.rules import RuleJudge
from semantic_memory.consolidation.relations import RelationJudge
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.domain.errors import (
    ConfigurationError,
    EmbedderMismatchError,
    MissingDependencyError,
    StoreUnavailableError,
)
from semantic_memory.domain.observers import log_event
from semantic_memory.domain.ports import (
    Clock,
    Condenser,
    Embedder,
    EmbedderIdentity,
    Extractor,
    Ledger,
    Observer,
    TokenCounter,
    VectorIndex,
)
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.pipeline.embedding import Embedding
from semantic_memory.pipeline.extraction import Admission, Committer, Extracting
from semantic_memory.pipeline.following import Consolidating, Indexing, Profiling
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.reading import Portion, PortionReader, StretchReader
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.sessions import Sessions, Shortening
from semantic_memory.pipeline.stage import EMBED, INDEX, WHOLE, Hint, Pace
from semantic_memory.pipeline.storing import Storing
from semantic_memory.profile.fields import Extent
from semantic_memory.profile.rollup import Extents, Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.retrieval.search import Searcher
from semantic_memory.settings import Settings
from semantic_memory.vectors.embedders.checked import CheckedEmbedder
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder
from semantic_memory.vectors.home import ChromaDirectory, GivenIndex
from semantic_memory.vectors.sync import IndexKeeper

if TYPE_CHECKING:
    import openai

    from semantic_memory.pipeline.batch_extraction import BatchExtracting

_EMBEDDER = "embedder"  # key in the ledger's meta
_MEGABYTES = 32  # for the users searched last
_GATHER_PROFILE = 5.0  # seconds within which changes of facts lead to one look at a profile
_GATHER_INDEX = 2.0  # seconds within which changes reach the index together
_THREADS = 4  # of the pipeline: one may wait for a model, one for the index


def _threads(settings: Settings) -> int:
    return _THREADS if settings.ingest.background else 0


class SystemClock:
    """The wall clock."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Parts:
    """What can be put in the place of the defaults; None keeps the default."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    index: VectorIndex | None = None
    token_counter: TokenCounter | None = None
    clock: Clock | None = None
    observer: Observer | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that a memory is made of, wired up and running."""

    settings: Settings
    ledger: Ledger
    log: SessionLog
    keeper: IndexKeeper
    index: ExactIndex
    embedder: Embedder
    searcher: Searcher
    pipeline: Pipeline
    curation: Curation
    resolver: Resolver
    upkeep: Upkeep
    uses: Uses
    transfer: Transfer
    token_counter: TokenCounter
    clock: Clock
    observe: Observer
    resources: ExitStack

    def close(self) -> None:
        """Stop the background, then release files and the lock, whatever fails on the way."""
        self.resources.close()


def build(settings: Settings, parts: Parts, *, reembedding: bool = False) -> Service:
    """Open the store in `settings.data_dir` and start its background work.

    Raises StoreLockedError, StoreUnavailableError, StoreCorruptError, SchemaTooNewError, and
    EmbedderMismatchError unless `reembedding`.
    """
    directory = settings.data_dir
    clock = parts.clock or SystemClock()
    observe = parts.observer or log_event
    _make_private(directory)
    with ExitStack() as stack:
        lock = DirectoryLock(directory)
        stack.callback(lock.release)
        ledger = SqliteLedger(directory / "ledger.sqlite3", observe)
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
        log = SessionLog(directory / "sessions", observe, make_cipher(settings))
        ingest = settings.ingest
        rules = RuleJudge()
        resolver = Resolver(
            ledger, index, clock, rules, make_judge(settings, rules, observe, stack)
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
            observe,
            stack,
        )
        weights = Weights(**settings.retrieval.model_dump())
        searcher = Searcher(ledger, index, embedder, clock, weights, settings.half_lives, observe)

        stack.callback(keeper.close)
        keeper.inspect()
        pipeline.start()
        uses = Uses()
        upkeep = Upkeep(
            ledger,
            resolver,
            rollup,
            Compactor(ledger, pipeline, keeper.purge),
            uses,
            clock,
            observe,
            _fading(settings),
        )
        stack.callback(pipeline.close)
        if settings.upkeep.schedule:
            scheduler = Scheduler(upkeep, ledger, clock, settings.upkeep.intervals)
            scheduler.start()
            stack.callback(scheduler.close)
        else:
            stack.callback(upkeep.close)
        return Service(
            settings=settings,
            ledger=ledger,
            log=log,
            keeper=keeper,
            index=index,
            embedder=embedder,
            searcher=searcher,
            pipeline=pipeline,
            curation=Curation(ledger, embedder, pipeline, rollup, clock, pipeline.changed),
            resolver=resolver,
            upkeep=upkeep,
            uses=uses,
            transfer=Transfer(ledger, log, pipeline, pipeline.changed),
            token_counter=counter,
            clock=clock,
            observe=observe,
            resources=stack.pop_all(),
        )


def check_embedder(ledger: Ledger, identity: EmbedderIdentity) -> None:
    """Make sure that the vectors in the ledger are this embedder's; note it in a new ledger."""
    stored = ledger.meta(_EMBEDDER)
    if stored is None:
        record_embedder(ledger, identity)
    elif (known := EmbedderIdentity(**json.loads(stored))) != identity:
        raise EmbedderMismatchError(
            f"this store was embedded with {known}, the settings say {identity}: set the model"
            " back, or run `semantic-memory reembed` to embed every memory anew"
        )


def record_embedder(ledger: Ledger, identity: EmbedderIdentity) -> int:
    """Make `identity` the ledger's; returns how many memories must be embedded (again)."""
    return ledger.drop_vectors(_EMBEDDER, json.dumps(asdict(identity)))


def make_judge(
    settings: Settings, rules: RelationJudge, observe: Observer, resources: ExitStack
) -> RelationJudge | None:
    """Who is asked how two facts stand to each other where the rules aren't sure, if anybody.

    `resources` closes its connections. Raises ConfigurationError, and MissingDependencyError
    without sentence-transformers.
    """
    beliefs = settings.beliefs
    second: RelationJudge
    match beliefs.judge:
        case "rules":
            return None
        case "openai":
            from semantic_memory.consolidation.judges.llm import LLMJudge

            model = beliefs.model or settings.extraction.model
            client = resources.enter_context(make_client(settings, "beliefs.judge"))
            second, name = LLMJudge(client, model, observe), f"openai:{model}"
        case "nli":
            try:
                from semantic_memory.consolidation.judges.nli import NLIJudge
            except ImportError:
                raise MissingDependencyError(
                    "beliefs.judge nli needs sentence-transformers:"
                    " pip install 'sentence-transformers>=6.2,<7'"
                ) from None
            if not beliefs.model:
                raise ConfigurationError(
                    "beliefs.judge nli needs beliefs.model: the directory of a cross-encoder, or a"
                    " name in the local cache"
                )
            second, name = NLIJudge(beliefs.model), f"nli:{Path(beliefs.model).name}"
    extraction = settings.extraction
    return EscalatingJudge(
        rules,
        second,
        name=name,
        breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
        observe=observe,
        per_hour=beliefs.pairs_per_hour,
    )


def _fading(settings: Settings) -> Fading:
    upkeep = settings.upkeep
    return Fading(
        loss_per_week=upkeep.loss_per_week,
        floor=upkeep.floor,
        cap=upkeep.cap,
        half_life_days=settings.half_lives,
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
    )


def make_cipher(settings: Settings) -> Cipher | None:
    """What encrypts the session logs; None to leave them in plain text."""
    match settings.log.key, settings.log.key_file:
        case None, None:
            return None
        case key, None if key is not None:
            return Cipher(key.get_secret_value().replace(",", " ").split())
        case None, file if file is not None:
            return Cipher(read_keys(file, settings.data_dir))
        case _:
            raise ConfigurationError("log.key and log.key_file are both set: give one of them")


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name."""
    embedding = settings.embedding
    match embedding.provider:
        case "onnx":
            return OnnxEmbedder(settings.cache_dir / "models", embedding.precision)
        case "sentence-transformers":
            from semantic_memory.vectors.embedders.sentence_transformer import (
                SentenceTransformerEmbedder,
            )

            if not embedding.model:
                raise ConfigurationError(
                    "embedding.provider sentence-transformers needs embedding.model: a name or path"
                )
            return SentenceTransformerEmbedder(embedding.model)
        case "openai":
            from semantic_memory.vectors.embedders.openai import OpenAIEmbedder

            key = settings.openai.api_key
            return OpenAIEmbedder(
                embedding.model or "text-embedding-3-small",
                embedding.dimension,
                api_key=key.get_secret_value() if key else os.environ.get("OPENAI_API_KEY"),
                base_url=settings.openai.base_url,
            )


def make_extractor(
    settings: Settings, embedder: Embedder, observe: Observer, resources: ExitStack
) -> Extractor:
    """The extractor that the settings name; `resources` closes its connections."""
    extraction = settings.extraction
    match extraction.provider:
        case "offline":
            return OfflineExtractor(embedder)
        case "openai":
            from ingest.extract.openai import OpenAIExtractor, Price

            price = extraction.usd_per_million_tokens.get(extraction.model)
            return OpenAIExtractor(
                resources.enter_context(make_client(settings)),
                extraction.model,
                rules=OfflineExtractor(embedder),
                breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
                observe=observe,
                temperature=extraction.temperature,
                price=Price(*price) if price else None,
            )


def make_condenser(settings: Settings, observe: Observer, resources: ExitStack) -> Condenser | None:
    """What condenses histories: the model that extracts, if there is one."""
    extraction = settings.extraction
    match extraction.provider:
        case "offline":
            return None
        case "openai":
            from ingest.extract.condense import OpenAICondenser
            from ingest.extract.openai import Price

            price = extraction.usd_per_million_tokens.get(extraction.model)
            return OpenAICondenser(
                resources.enter_context(make_client(settings)),
                extraction.model,
                breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
                observe=observe,
                temperature=extraction.temperature,
                price=Price(*price) if price else None,
            )


def make_pipeline(
    settings: Settings,
    ledger: Ledger,
    log: SessionLog,
    gate: Gate,
    embedder: Embedder,
    extractor: Extractor,
    resolver: Resolver,
    rollup: Rollup,
    keeper: IndexKeeper,
    runner: Runner,
    clock: Clock,
    observe: Observer,
    resources: ExitStack,
) -> Pipeline:
    """Wire up the stages of the write path, in the order in which `flush` runs them."""
    ingest, hint = settings.ingest, runner.hint
    reader = PortionReader(ledger, log)
    stretches = StretchReader(ledger, reader)
    admission = Admission(ledger, gate, clock, extractor.name)
    committer = Committer(ledger, reader, admission, observe, hint)
    batch = make_batch(settings, ledger, extractor, stretches, committer, observe, hint, resources)
    alone = settings.extraction.batch

    def stored(portion: Portion) -> None:
        hint(EMBED, WHOLE)
        shortening.weigh(portion)

    storing = Storing(ledger, log, reader, gate, clock, observe, stored)
    sessions = Sessions(ledger, log, reader, stretches, lambda key: storing.store([key]))
    shortening = Shortening(
        ledger, log, sessions, observe, hint, settings.log.most_bytes, ingest.retry_seconds
    )
    held = batch.holds if batch is not None else lambda _: False
    extracting = Extracting(stretches, extractor, committer, observe, held)
    runner.add(storing, Pace(eager=True))
    runner.add(
        extracting,
        Pace(
            quiet=ingest.quiet_seconds,
            most_wait=ingest.most_wait_seconds,
            most_hints=ingest.most_messages,
            workers=0 if alone else 1,
            flushed=not alone,
        ),
    )
    if batch is not None:
        runner.add(batch, Pace(workers=0 if alone else 1, flushed=alone))
    runner.add(Embedding(ledger, embedder, observe, hint))
    runner.add(Consolidating(resolver, observe, hint))
    runner.add(Profiling(rollup), Pace(quiet=_GATHER_PROFILE, most_wait=_GATHER_PROFILE, rest=4.0))
    runner.add(Indexing(keeper), Pace(quiet=_GATHER_INDEX, most_wait=_GATHER_INDEX))
    runner.add(shortening, Pace(flushed=False))
    return Pipeline(ledger, log, storing, sessions, runner, observe)


def make_batch(
    settings: Settings,
    ledger: Ledger,
    extractor: Extractor,
    stretches: StretchReader,
    committer: Committer,
    observe: Observer,
    hint: Hint,
    resources: ExitStack,
) -> BatchExtracting | None:
    """Return the stage that extracts through the batch API; None if the endpoint has none.

    Raises ConfigurationError if the settings ask for a batch then.
    """
    extraction = settings.extraction
    if extraction.provider == "openai":
        from ingest.extract.openai import OpenAIExtractor
        from ingest.extract.openai_batch import OpenAIBatch
        from semantic_memory.pipeline.batch_extraction import BatchExtracting

        if isinstance(extractor, OpenAIExtractor):
            client = resources.enter_context(make_client(settings))
            return BatchExtracting(
                ledger,
                OpenAIBatch(client, extractor),
                stretches,
                committer,
                observe,
                hint,
                alone=extraction.batch,
                poll_seconds=extraction.batch_poll_seconds,
            )
    if extraction.batch:
        raise ConfigurationError(
            "extraction.batch (--batch) needs extraction.provider openai: rules read at once and"
            " cost nothing"
        )
    return None


def make_client(settings: Settings, setting: str = "extraction.provider") -> openai.OpenAI:
    """The client of the endpoint that `setting` asks for.

    Raises ConfigurationError if there is no key.
    """
    import openai  # takes longer to import than all the rest, and few stores need it

    key, base_url = settings.openai.api_key, settings.openai.base_url
    api_key = key.get_secret_value() if key else os.environ.get("OPENAI_API_KEY")
    if not api_key and not base_url:
        raise ConfigurationError(
            f"{setting} openai needs a key: set OPENAI_API_KEY or openai.api_key, or"
            " openai.base_url for an endpoint that takes none"
        )
    return openai.OpenAI(
        api_key=api_key or "none",
        base_url=base_url,
        timeout=settings.extraction.timeout_seconds,
        max_retries=settings.extraction.max_retries,
    )


def _make_private(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't create the data directory {directory}: {error.strerror or error}"
        ) from error
