"""Make the models that the settings name, as embedders, extractors, summarizers, judges."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.ports import (
    Condenser,
    Embedder,
    Extractor,
    Observer,
    Summarizer,
    TokenCounter,
)
from semantic_memory.judging.cascade import CascadeJudge
from semantic_memory.judging.ports import PairJudge, SentenceJudge
from semantic_memory.settings import Settings

if TYPE_CHECKING:
    import openai

    from semantic_memory.llm.endpoint import Endpoint


_OPENAI = "https://api.openai.com/v1"


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

    match settings.extraction.provider:
        case "offline":
            return OfflineExtractor(judge)
        case "openai":
            from ingest.extract.openai import OpenAIExtractor

            return OpenAIExtractor(
                make_model(settings, settings.extraction.model, observe, resources),
                rules=OfflineExtractor(judge),
                observe=observe,
                temperature=settings.extraction.temperature,
            )


def make_condenser(settings: Settings, observe: Observer, resources: ExitStack) -> Condenser | None:
    """Make the condenser of histories: the model that extracts, if there is one."""
    match settings.extraction.provider:
        case "offline":
            return None
        case "openai":
            from ingest.extract.condense import ModelCondenser

            return ModelCondenser(
                make_model(settings, settings.extraction.model, observe, resources),
                temperature=settings.extraction.temperature,
            )


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
            from ingest.extract.summarize import ModelSummarizer

            model = settings.window.summary_model or settings.extraction.model
            summarizer = ModelSummarizer(
                make_model(settings, model, observe, resources, "window.summarizer"),
                temperature=settings.extraction.temperature,
            )
            return lambda _: summarizer


def make_model(
    settings: Settings,
    model: str,
    observe: Observer,
    resources: ExitStack,
    setting: str = "extraction.provider",
) -> Endpoint:
    """Make the client of a model at the endpoint that `setting` asks for.

    `resources` closes its connections. Raises ConfigurationError if there is no key.
    """
    import httpx

    from semantic_memory.llm.breaker import CircuitBreaker
    from semantic_memory.llm.endpoint import Endpoint, Price
    from semantic_memory.llm.openai import OpenAIForm
    from semantic_memory.llm.transport import Transport

    extraction = settings.extraction
    client = resources.enter_context(
        httpx.Client(
            base_url=settings.openai.base_url or _OPENAI,
            headers={"Authorization": f"Bearer {_key(settings, setting) or 'none'}"},
            timeout=extraction.timeout_seconds,
        )
    )
    price = extraction.usd_per_million_tokens.get(model)
    return Endpoint(
        OpenAIForm(Transport(client, extraction.timeout_seconds), model),
        model,
        breaker=CircuitBreaker(extraction.breaker_failures, extraction.breaker_seconds),
        observe=observe,
        price=Price(*price) if price else None,
        max_retries=extraction.max_retries,
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
            from semantic_memory.judging.llm import LLMJudge

            name = beliefs.model or settings.extraction.model
            model = make_model(settings, name, observe, resources, "beliefs.judge")
            second, name = LLMJudge(model), model.name
        case "nli":
            try:
                from semantic_memory.judging.nli import NLIJudge
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
    return CascadeJudge(
        packaged, second, name=name, observe=observe, per_hour=beliefs.pairs_per_hour
    )


def make_client(settings: Settings) -> openai.OpenAI:
    """Make the client of the batch API. Raises ConfigurationError if there is no key."""
    import openai  # takes longer to import than all the rest, and few stores need it

    return openai.OpenAI(
        api_key=_key(settings, "extraction.provider") or "none",
        base_url=settings.openai.base_url,
        timeout=settings.extraction.timeout_seconds,
        max_retries=settings.extraction.max_retries,
    )


def _key(settings: Settings, setting: str) -> str | None:
    """Return the endpoint's key. Raises ConfigurationError if `setting` needs one."""
    key = settings.openai.api_key
    api_key = key.get_secret_value() if key else os.environ.get("OPENAI_API_KEY")
    if not api_key and not settings.openai.base_url:
        raise ConfigurationError(
            f"{setting} openai needs a key: set OPENAI_API_KEY or openai.api_key, or"
            " openai.base_url for an endpoint that takes none"
        )
    return api_key
