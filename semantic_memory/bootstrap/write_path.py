"""Wire up the write path: the stages of the pipeline and their runner."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from ingest.gate import Gate
from semantic_memory.bootstrap.models import make_client, speaks_openai
from semantic_memory.bootstrap.upkeep import make_fading
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import (
    Clock,
    DecidingExtractor,
    Embedder,
    Extractor,
    Ledger,
    Observer,
    SessionLog,
)
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.retention import Expiry
from semantic_memory.pipeline.embedding import Embedding
from semantic_memory.pipeline.extraction import Admission, Committer, Extracting
from semantic_memory.pipeline.following import Consolidating, Indexing, Keeping, Profiling
from semantic_memory.pipeline.grounding import Grounding
from semantic_memory.pipeline.known import WideSurroundings
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.pipeline.reading import Portion, PortionReader, StretchReader
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.sessions import Redacting, Sessions, Shortening
from semantic_memory.pipeline.stage import EMBED, SETTLE, WHOLE, Hint, Pace
from semantic_memory.pipeline.standing_in import Rereading, StandIn
from semantic_memory.pipeline.storing import Storing
from semantic_memory.profile.rollup import Rollup
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.vectors.keeper import Keeper

if TYPE_CHECKING:
    from semantic_memory.pipeline.batch_extraction import BatchExtracting

_GATHER_PROFILE = 5.0  # seconds within which changes of facts lead to one look at a profile
_PATIENCE = 10.0  # seconds that a forgetting has to erase by itself
_GATHER_INDEX = 15.0  # seconds within which changes reach the index together: searches know them
_GATHER_FILE = 2.0  # seconds without a further hint before a partition is written to its file
_AT_ONCE = 24  # messages that a model reads in a call: a request of 4,000 tokens


def make_pipeline(
    settings: Settings,
    ledger: Ledger,
    log: SessionLog,
    states: States,
    gate: Gate,
    embedder: Embedder,
    extractor: Extractor,
    resolver: Resolver,
    rollup: Rollup,
    keeper: Keeper,
    index: ExactIndex,
    runner: Runner,
    clock: Clock,
    expiry: Expiry,
    observe: Observer,
    resources: ExitStack,
    *,
    reading: bool = False,
) -> Pipeline:
    """Wire up the stages of the write path, in the order in which `flush` runs them."""
    ingest, hint = settings.ingest, runner.hint
    reader = PortionReader(ledger, log)
    if isinstance(extractor, DecidingExtractor):
        surroundings = WideSurroundings(ledger, embedder, index)
        stretches = StretchReader(ledger, reader, clock, gate.masked, surroundings, _AT_ONCE)
    else:
        stretches = StretchReader(ledger, reader, clock, gate.masked)
    admission = Admission(
        ledger,
        gate,
        clock,
        expiry,
        settings.upkeep.cap,
        extractor.name,
        settings.profile.ages,
        Grounding(embedder),
    )
    standing_in = make_stand_in(settings, ledger, reader, extractor, clock, hint)
    committer = Committer(ledger, reader, admission, observe, hint, standing_in)
    batch = make_batch(settings, ledger, extractor, stretches, committer, observe, hint, resources)
    alone = settings.extraction.batch

    def stored(portion: Portion) -> None:
        hint(EMBED, WHOLE)
        hint(SETTLE, portion.key.user_id)
        shortening.weigh(portion)

    storing = Storing(ledger, log, reader, gate, clock, observe, stored, reading=reading)
    sessions = Sessions(ledger, log, states, reader, stretches, lambda key: storing.store([key]))
    shortening = Shortening(
        ledger,
        log,
        sessions,
        observe,
        hint,
        settings.log,
        ingest.retry_seconds,
        clock,
        make_fading(settings),
    )
    held = batch.holds if batch is not None else lambda _: False
    extracting = Extracting(stretches, extractor, committer, observe, held, standing_in)
    runner.add(storing, Pace(eager=True, leased=False))
    pace = pace_of(ingest, deciding=isinstance(extractor, DecidingExtractor))
    runner.add(extracting, replace(pace, workers=0 if alone else 1, flushed=not alone))
    if batch is not None:
        runner.add(batch, Pace(workers=0 if alone else 1, flushed=alone))
    if standing_in is not None:
        rereading = Rereading(standing_in, partial(answers, extractor))
        runner.add(rereading, Pace(flushed=False))
    runner.add(Embedding(ledger, embedder, observe, hint), Pace(leased=False))
    runner.add(Consolidating(resolver, observe, hint))
    runner.add(Profiling(rollup), Pace(quiet=_GATHER_PROFILE, most_wait=_GATHER_PROFILE, rest=4.0))
    runner.add(Indexing(keeper), Pace(quiet=_GATHER_INDEX, most_wait=_GATHER_INDEX))
    runner.add(Keeping(index), Pace(quiet=_GATHER_FILE, most_wait=_GATHER_INDEX, rest=4.0))
    runner.add(shortening, Pace(flushed=False))
    pipeline = Pipeline(ledger, log, gate, storing, sessions, shortening, runner, observe)
    if log.shared:
        pace = Pace(quiet=_PATIENCE, most_wait=_PATIENCE, flushed=False)
        runner.add(Redacting(ledger, pipeline.pay), pace)
    return pipeline


def make_stand_in(
    settings: Settings,
    ledger: Ledger,
    reader: PortionReader,
    extractor: Extractor,
    clock: Clock,
    hint: Hint,
) -> StandIn | None:
    """Make what has the rules extract in a model's place; None where no model extracts."""
    if not settings.extraction.llm:
        return None
    from ingest.extract.openai import OpenAIExtractor

    if not isinstance(extractor, OpenAIExtractor):
        return None
    patience = timedelta(hours=settings.extraction.stand_in_hours)
    return StandIn(ledger, reader, extractor.rules, clock, patience, hint)


def answers(extractor: Extractor) -> bool:
    """Return True if the model of an extractor answers, as far as it can be asked."""
    from ingest.extract.openai import OpenAIExtractor
    from semantic_memory.llm.endpoint import Endpoint

    model = extractor.model if isinstance(extractor, OpenAIExtractor) else None
    return model.answers() if isinstance(model, Endpoint) else True


def pace_of(ingest: IngestSettings, *, deciding: bool) -> Pace:
    """Return when a session is extracted: by a model that decides, later and more at once."""

    def given(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else value

    quiet = given(ingest.quiet_seconds, 300.0 if deciding else 30.0)
    most = given(ingest.most_messages, 10 if deciding else 50)
    longest = given(ingest.most_wait_seconds, most * quiet if deciding else 300.0)
    return Pace(quiet=quiet, most_wait=longest, most_hints=most)


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
    if extraction.llm and speaks_openai(settings):
        from ingest.extract.openai import OpenAIExtractor
        from ingest.extract.openai_batch import OpenAIBatch
        from semantic_memory.llm.endpoint import Endpoint
        from semantic_memory.pipeline.batch_extraction import BatchExtracting

        if isinstance(extractor, OpenAIExtractor) and isinstance(extractor.model, Endpoint):
            client = resources.enter_context(make_client(settings))
            return BatchExtracting(
                ledger,
                OpenAIBatch(client, extractor, extractor.model),
                stretches,
                committer,
                observe,
                hint,
                alone=extraction.batch,
                poll_seconds=extraction.batch_poll_seconds,
            )
    if extraction.batch:
        raise ConfigurationError(
            "extraction.batch (--batch) needs extraction.llm, an endpoint of the provider openai:"
            " rules read at once and cost nothing"
        )
    return None
