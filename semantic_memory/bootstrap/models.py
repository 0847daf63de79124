"""Make the models that the settings name, as embedders, extractors, summarizers, judges."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.extract.breaker import CircuitBreaker
from semantic_memory.consolidation.judges.escalating import EscalatingJudge
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.ports import (
    Condenser,
    Embedder,
    Extractor,
    Observer,
    Summarizer,
    TokenCounter,
)
from semantic_memory.judging.ports import PairJudge, SentenceJudge
from semantic_memory.settings import ExtractionSettings, Settings

if TYPE_CHECKING:
    import openai

    from ingest.extract.endpoint import Endpoint


def make_embedder(settings: Settings) -> Embedder:
    """Make the embedder that the settings name.

    Raises ConfigurationError, and MissingDependencyError without the extra that it needs.
    """
    embedding = settings.embedding
    match embedding.provider:
        case "onnx":
            from semantic_memory.vectors.embedders.onnx import OnnxEmbedder

            if embedding.precision == "int8":
                return OnnxEmbedder()
            from semantic_memory.vectors.embedders.compiled import (
                check_compiler,
                compiled_model,
                is_compiled,
            )

            cache = settings.cache_dir / "models"
            if not is_compiled(cache):
                check_compiler()
            return OnnxEmbedder(partial(compiled_model, cache), "fp32")
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
    settings: Settings, judge: SentenceJudge, observe: Observer, resources: ExitStack
) -> Extractor:
    """Make the extractor that the settings name; `resources` closes its connections."""
    from ingest.extract.offline import OfflineExtractor

    extraction = settings.extraction
    match extraction.provider:
        case "offline":
            return OfflineExtractor(judge)
        case "openai":
            from ingest.extract.openai import OpenAIExtractor, Price

            price = extraction.usd_per_million_tokens.get(extraction.model)
            return OpenAIExtractor(
                resources.enter_context(make_client(settings)),
                extraction.model,
                rules=OfflineExtractor(judge),
                breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
                observe=observe,
                temperature=extraction.temperature,
                price=Price(*price) if price else None,
            )


def make_condenser(settings: Settings, observe: Observer, resources: ExitStack) -> Condenser | None:
    """Make the condenser of histories: the model that extracts, if there is one."""
    extraction = settings.extraction
    match extraction.provider:
        case "offline":
            return None
        case "openai":
            from ingest.extract.condense import OpenAICondenser

            client = resources.enter_context(make_client(settings))
            return OpenAICondenser(_endpoint(client, extraction, extraction.model, observe))


def make_summarizer(
    settings: Settings, observe: Observer, resources: ExitStack
) -> Callable[[TokenCounter], Summarizer | None]:
    """Return a function that makes the summarizer of windows, given a counter of their tokens.

    `resources` closes its connections.
    """
    match settings.window.summarizer:
        case "none":
            return lambda _: None
        case "extractive":
            from semantic_memory.session.extractive import ExtractiveSummarizer

            return ExtractiveSummarizer
        case "openai":
            from ingest.extract.summarize import OpenAISummarizer

            client = resources.enter_context(make_client(settings, "window.summarizer"))
            model = settings.window.summary_model or settings.extraction.model
            summarizer = OpenAISummarizer(_endpoint(client, settings.extraction, model, observe))
            return lambda _: summarizer


def _endpoint(
    client: openai.OpenAI, extraction: ExtractionSettings, model: str, observe: Observer
) -> Endpoint:
    """Make an endpoint with a breaker of its own and the model's price."""
    from ingest.extract.endpoint import Endpoint
    from ingest.extract.openai import Price

    price = extraction.usd_per_million_tokens.get(model)
    return Endpoint(
        client,
        model,
        breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
        observe=observe,
        temperature=extraction.temperature,
        price=Price(*price) if price else None,
    )


def make_judge(
    settings: Settings, packaged: PairJudge, observe: Observer, resources: ExitStack
) -> PairJudge | None:
    """Make the judge of two facts' relation where the packaged judge is unsure; None to do without.

    `resources` closes its connections. Raises ConfigurationError, and MissingDependencyError
    without sentence-transformers.
    """
    beliefs = settings.beliefs
    second: PairJudge
    match beliefs.judge:
        case "packaged":
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
                    " pip install 'semantic-memory[sentence-transformers]'"
                ) from None
            if not beliefs.model:
                raise ConfigurationError(
                    "beliefs.judge nli needs beliefs.model: the directory of a cross-encoder, or a"
                    " name in the local cache"
                )
            second, name = NLIJudge(beliefs.model), f"nli:{Path(beliefs.model).name}"
    extraction = settings.extraction
    return EscalatingJudge(
        packaged,
        second,
        name=name,
        breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
        observe=observe,
        per_hour=beliefs.pairs_per_hour,
    )


def make_client(settings: Settings, setting: str = "extraction.provider") -> openai.OpenAI:
    """Make the client of the endpoint that `setting` asks for.

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
