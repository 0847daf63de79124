"""The one place where concrete parts meet."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from ingest.gate import Gate
from semantic_memory.application.asking import Asking
from semantic_memory.application.conversations import Conversations
from semantic_memory.application.dead_letters import DeadLetters
from semantic_memory.application.doctor import Doctor
from semantic_memory.application.edits import Edits
from semantic_memory.application.erasing import Erasing
from semantic_memory.application.explain import Explain
from semantic_memory.application.feed import Feed
from semantic_memory.application.forget_checks import ForgetChecks
from semantic_memory.application.forgetting import Forgetting
from semantic_memory.application.inspection import Inspection
from semantic_memory.application.items import ItemStore
from semantic_memory.application.jobs.upkeep import Uses
from semantic_memory.application.lookup import Lookup
from semantic_memory.application.maintenance import Maintenance
from semantic_memory.application.map import Map
from semantic_memory.application.moving import refuse_half_moved
from semantic_memory.application.naming import Naming
from semantic_memory.application.open_session import OpenSession
from semantic_memory.application.profiles import Profiles
from semantic_memory.application.proving import Prover
from semantic_memory.application.recall import Recall
from semantic_memory.application.receipts import Receipts
from semantic_memory.application.recent import Recent
from semantic_memory.application.recovery import Recovery
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.review import Review
from semantic_memory.application.statistics import Statistics
from semantic_memory.application.timelines import TimelineReader
from semantic_memory.application.tracing import Tracer
from semantic_memory.application.trail import Trail
from semantic_memory.application.transfer import Transfer
from semantic_memory.application.why_not import WhyNot
from semantic_memory.bootstrap.embedded import build_in_directory
from semantic_memory.bootstrap.embedder import check_embedder, record_embedder
from semantic_memory.bootstrap.models import (
    LanguageModels,
    make_budgets,
    make_condenser,
    make_embedder,
    make_extractor,
    make_judge,
    make_summarizer,
)
from semantic_memory.bootstrap.parts import Parts, SharedParts, UseCases
from semantic_memory.bootstrap.read_path import (
    make_index,
    make_memory_files,
    make_packer,
    make_reranking,
    make_searcher,
)
from semantic_memory.bootstrap.server import open_database
from semantic_memory.bootstrap.storage import Opening, make_keeper
from semantic_memory.bootstrap.upkeep import (
    keep_up,
    make_compactor,
    make_extents,
    make_fading,
    make_upkeep,
    start_webhook,
)
from semantic_memory.bootstrap.write_path import make_pipeline
from semantic_memory.concurrency import SystemClock
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.context.tokens import TiktokenCounter, encoding_name
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.observers import log_event, telling
from semantic_memory.domain.retention import Expiry
from semantic_memory.judging.packaged import (
    PackagedPairJudge,
    PackagedSentenceJudge,
)
from semantic_memory.judging.reading import FactReader
from semantic_memory.llm.spending import SpendBook
from semantic_memory.pipeline.leasing import Leasing
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.stage import INDEX, KEEP, WHOLE
from semantic_memory.profile.rollup import Rollup
from semantic_memory.session.limits import WindowPolicy
from semantic_memory.settings import Settings
from semantic_memory.sharing.sharing import Sharing
from semantic_memory.vectors.embedders.checked import CheckedEmbedder

__all__ = ["Parts", "SharedParts", "UseCases", "build"]

_THREADS = 4  # of the pipeline: one may wait for a model, one for the index
_NOT_ON_A_DATABASE = {
    "reembed": (
        "reembed works on a data directory: bring the store into one with `semantic-memory admin"
        " migrate --to DIRECTORY`, embed it anew there, and migrate it to an empty schema"
    ),
    "recover": (
        "recover is for a data directory with an older ledger: a database holds ledger and session"
        " logs together, so restore a backup of it as a whole"
    ),
}


def build(
    settings: Settings,
    parts: Parts,
    *,
    reembedding: bool = False,
    recovering: bool = False,
    sharing: Sharing | None = None,
) -> UseCases:
    """Open the store that the settings name, and start its background work.

    One in a data directory is announced by `sharing` while it is open; who serves it is the
    caller's affair. Raises StoreLockedError, StoreUnavailableError, StoreCorruptError,
    SchemaTooNewError, EmbedderMismatchError unless `reembedding`, LedgerBehindError unless
    `recovering`, and ConfigurationError for either of them on a database.
    """
    make = partial(_built, settings, parts, reembedding=reembedding, recovering=recovering)
    url = settings.store.plain_url
    if url is None:
        return build_in_directory(
            settings, parts, make, sharing, reembedding=reembedding, recovering=recovering
        )
    if reembedding or recovering:
        raise ConfigurationError(_NOT_ON_A_DATABASE["reembed" if reembedding else "recover"])
    return make(partial(open_database, settings, url, parts.index, parts.observer or log_event))


def _built(
    settings: Settings,
    parts: Parts,
    opening: Opening,
    *,
    reembedding: bool,
    recovering: bool,
) -> UseCases:
    with ExitStack() as stack:
        storage = opening(stack)
        refuse_half_moved(storage.ledger)
        ledger, log, states = storage.ledger, storage.log, storage.states
        written = not storage.reading
        clock = parts.clock or SystemClock()
        expiry = Expiry(clock, settings.retention.periods)
        cap = settings.upkeep.cap
        tracer = Tracer(storage.traces, clock, **settings.trace.model_dump())
        stack.callback(tracer.close)
        observe = telling((parts.observer or log_event, tracer.on_event))
        embedder = CheckedEmbedder(parts.embedder or make_embedder(settings))
        ingest = settings.ingest
        threads = _THREADS if ingest.background and written else 0
        leasing = Leasing(storage.leases)
        stack.callback(leasing.close)
        runner = Runner(observe, ingest.retry_seconds, threads, leasing)
        keeper = make_keeper(
            storage.home,
            ledger,
            observe,
            settings.index.scanned,
            partial(runner.hint, INDEX, WHOLE),
        )
        index = make_index(settings, ledger, keeper, storage.files, partial(runner.hint, KEEP))
        if reembedding or recovering:
            # First, so that no index is left with vectors or memories that the ledger forgot.
            keeper.reset()
            index.purge()
        if reembedding:
            record_embedder(ledger, embedder.identity)
        else:
            check_embedder(ledger, embedder.identity)
        sentence_judge = parts.sentence_judge or PackagedSentenceJudge()
        pair_judge = parts.pair_judge or PackagedPairJudge()
        read = FactReader(sentence_judge)
        book = SpendBook(ledger, clock)
        models = LanguageModels(settings, observe, book, stack)
        second_judge = make_judge(settings, pair_judge, observe, models)
        resolver = Resolver(ledger, index, clock, pair_judge, read, second_judge, expiry)
        counter = parts.token_counter or TiktokenCounter(encoding_name(settings.context.model))
        rollup = Rollup(
            ledger,
            embedder,
            counter,
            make_condenser(settings, models),
            clock,
            read,
            make_extents(settings),
        )
        gate = Gate(
            ingest.min_confidence, ingest.personal_data, ingest.secrets, settings.log.secrets
        )
        extractor = parts.extractor or make_extractor(
            settings, sentence_judge, observe, models, parts.types
        )
        pipeline = make_pipeline(
            settings,
            ledger,
            log,
            states,
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
            stack,
            reading=not written,
        )
        searcher = make_searcher(settings, ledger, index, embedder, clock, observe)
        stack.callback(keeper.close)
        keeper.inspect()
        erasing = Erasing(ledger, pipeline, states, storage.room, clock, observe)
        compactor = make_compactor(ledger, pipeline, keeper, index, storage)
        if written:
            erasing.resume()
            compactor.resume()
        if recovering:
            Recovery(ledger, log, erasing).run()
        uses = Uses()
        trail = Trail(ledger, settings.context.audit if written else 0)
        items = ItemStore(ledger, embedder, gate, clock, observe)
        upkeep = make_upkeep(
            settings,
            ledger,
            compactor,
            resolver,
            rollup,
            items,
            uses,
            trail,
            clock,
            expiry,
            observe,
            leasing,
        )
        maintenance = Maintenance(ledger, pipeline, keeper, upkeep, items)
        filtering = FilterResolver(ledger, clock, settings.declared)
        receipts = Receipts(ledger, clock)
        naming = Naming(ledger, embedder)
        forgetting = Forgetting(
            ledger,
            pipeline,
            erasing,
            states,
            storage.room,
            filtering,
            naming,
            ForgetChecks(ledger, naming),
            gate,
            Prover(ledger, maintenance, storage.contents, receipts),
            trail,
            tracer,
            clock,
        )
        asking = Asking(
            ledger,
            pipeline,
            forgetting,
            clock,
            observe,
            at_once=ingest.forget_requests == "at once",
            withholds=ingest.forget_requests == "leave out",
        )
        runner.add(asking)
        if written:
            start_webhook(settings.webhook, ledger, clock, observe, leasing, stack)
            pipeline.start()
        stack.callback(pipeline.close)
        if written:
            keep_up(settings.upkeep, upkeep, ledger, clock, stack)
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
            tracer,
            asking.withheld,
            pipeline.store_for_query,
            rollup,
            read.is_idle,
            make_reranking(settings.rerank, parts.reranker, observe, stack),
        )
        return UseCases(
            settings=settings,
            conversations=Conversations(
                ledger, log, pipeline, clock, expiry, erasing, settings.declared
            ),
            open_session=OpenSession(
                ledger,
                log,
                pipeline,
                recall,
                packer_for,
                settings.context.model,
                counter,
                WindowPolicy(**settings.window.policy),
                states,
                clock,
                observe,
                make_summarizer(settings, models),
                files_in,
                asking.waiting,
            ),
            recall=recall,
            trail=trail,
            lookup=Lookup(ledger, filtering, clock, expiry),
            edits=Edits(
                ledger,
                embedder,
                gate,
                clock,
                expiry,
                cap,
                erasing,
                pipeline.changed,
                settings.declared,
            ),
            forgetting=forgetting,
            asking=asking,
            receipts=receipts,
            explain=Explain(ledger, make_fading(settings), clock, expiry),
            map=Map(ledger, expiry),
            profiles=Profiles(ledger, rollup, gate, clock, expiry),
            transfer=Transfer(
                ledger,
                log,
                pipeline,
                filtering,
                gate,
                clock,
                expiry,
                cap,
                pipeline.changed,
                settings.declared,
            ),
            items=items,
            review=Review(ledger, gate, clock, expiry, cap, pipeline.changed),
            feed=Feed(ledger),
            statistics=Statistics(
                ledger, log, embedder.identity, storage.size, book, make_budgets(settings)
            ),
            doctor=Doctor(ledger, log, keeper, embedder.identity, clock, storage.check),
            maintenance=maintenance,
            inspection=Inspection(
                ledger,
                clock,
                Recent(ledger),
                TimelineReader(ledger, expiry),
                WhyNot(
                    ledger,
                    searcher,
                    recall,
                    filtering,
                    expiry,
                    settings.context.weakest,
                    settings.context.candidates,
                ),
                tracer,
                DeadLetters(ledger),
            ),
            shared=SharedParts(
                ledger, log, keeper, index, pipeline, resolver, rollup, upkeep, uses, clock
            ),
            resources=stack.pop_all(),
        )
