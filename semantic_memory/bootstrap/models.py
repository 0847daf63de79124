"""Make the models that the settings name, as embedders, extractors, summarizers, judges."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr

from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.events import Event, ModelCalled
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
from semantic_memory.llm.chat import ChatModel
from semantic_memory.llm.spending import Budget, Budgeted, SpendBook
from semantic_memory.settings import LLMSettings, Settings

if TYPE_CHECKING:
    import openai

    from semantic_memory.llm.endpoint import Endpoint
    from semantic_memory.llm.forms import Form


_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_PRICES = {"gpt-4o-mini": (0.15, 0.60)}  # in USD for a million tokens in and out, at OpenAI


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

            key = embedding.api_key
            return OpenAIEmbedder(
                embedding.model or "text-embedding-3-small",
                embedding.dimension,
                api_key=key.get_secret_value() if key else _own_key(embedding.base_url, "openai"),
                base_url=embedding.base_url,
            )


class LanguageModels:
    """Makes the clients of the endpoints in the settings, one for each, for all tasks."""

    def __init__(
        self, settings: Settings, observe: Observer, book: SpendBook, resources: ExitStack
    ) -> None:
        """`book` keeps what they cost, `resources` closes their connections."""
        self._settings = settings
        self._observe = observe
        self._book = book
        self._resources = resources
        self._made: dict[str, Endpoint] = {}

    def get(self, name: str, setting: str) -> Endpoint:
        """Return the client of the endpoint `name`, which `setting` asks for.

        Raises ConfigurationError if there is none, or it has no key, and MissingDependencyError
        without the extra that it needs.
        """
        if name not in self._made:
            self._made[name] = make_endpoint(
                endpoint_settings(self._settings, name, setting),
                setting,
                self._report,
                self._resources,
            )
        return self._made[name]

    def within(self, budget: Budget, name: str, setting: str) -> ChatModel:
        """Return that client, which isn't asked once the budget is spent.

        Raises ConfigurationError also if a budget in USD needs a price.
        """
        model = self.get(name, setting)
        if budget.usd is not None and model.price is None:
            raise ConfigurationError(
                f"a daily budget in USD needs the price of the model: set"
                f" llm.{name}.usd_per_million_tokens"
            )
        return Budgeted(model, budget, self._book, self._observe)

    def _report(self, event: Event, /) -> None:
        if isinstance(event, ModelCalled):
            self._book.record(event)
        self._observe(event)


def make_endpoint(
    chosen: LLMSettings, setting: str, observe: Observer, resources: ExitStack
) -> Endpoint:
    """Make the client of an endpoint. Raises as `LanguageModels.get` does."""
    from semantic_memory.llm.breaker import CircuitBreaker
    from semantic_memory.llm.endpoint import Endpoint, Price

    price = chosen.usd_per_million_tokens
    if price is None and chosen.base_url is None:
        price = _PRICES.get(_model(chosen))
    return Endpoint(
        _form(chosen, setting, resources),
        _model(chosen),
        breaker=CircuitBreaker(chosen.breaker_failures, chosen.breaker_seconds),
        observe=observe,
        price=Price(*price) if price else None,
        context_tokens=chosen.context_tokens,
        max_retries=chosen.max_retries,
    )


def _form(chosen: LLMSettings, setting: str, resources: ExitStack) -> Form:
    match chosen.provider:
        case "openai":
            import httpx

            from semantic_memory.llm.openai import OpenAIForm
            from semantic_memory.llm.transport import Transport

            client = httpx.Client(
                base_url=chosen.base_url or _URLS["openai"],
                headers=_headers(chosen, setting),
                params=dict(chosen.query),
                timeout=chosen.timeout_seconds,
            )
            transport = Transport(resources.enter_context(client), chosen.timeout_seconds)
            return OpenAIForm(transport, _model(chosen))
        case "anthropic":
            try:
                import anthropic
            except ImportError:
                raise MissingDependencyError(
                    f"{setting} names an endpoint of the provider anthropic, which needs the"
                    " package anthropic: pip install 'semantic-memory[anthropic]'"
                ) from None
            from semantic_memory.llm.anthropic import AnthropicForm

            own = anthropic.Anthropic(
                api_key=_key(chosen, setting) or "none",
                base_url=chosen.base_url or _URLS["anthropic"],
                default_headers=_plain(chosen.headers),
                default_query=dict(chosen.query),
                timeout=chosen.timeout_seconds,
                max_retries=0,
            )
            return AnthropicForm(resources.enter_context(own), chosen.model, chosen.timeout_seconds)


def _headers(chosen: LLMSettings, setting: str) -> dict[str, str]:
    key = _key(chosen, setting)
    own = _plain(chosen.headers)
    return {"Authorization": f"Bearer {key}", **own} if key else own


def _plain(headers: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in headers.items()}


def _model(chosen: LLMSettings) -> str:
    return chosen.model or "gpt-4o-mini"


def endpoint_settings(settings: Settings, name: str, setting: str) -> LLMSettings:
    """Return the settings of the endpoint `name`, which `setting` asks for.

    Raises ConfigurationError if there is none.
    """
    if name in settings.llm:
        return settings.llm[name]
    if name == "openai":
        return LLMSettings()
    known = ", ".join(sorted({*settings.llm, "openai"}))
    raise ConfigurationError(
        f"{setting} names the endpoint {name!r}, but there is no section [llm.{name}] in the"
        f" settings; known are {known}"
    )


def speaks_openai(settings: Settings) -> bool:
    """Tell whether the endpoint that extracts has OpenAI's form, and may have its batch API."""
    name = settings.extraction.llm
    return endpoint_settings(settings, name, "extraction.llm").provider == "openai"


def _key(chosen: LLMSettings, setting: str) -> str | None:
    """Return an endpoint's key. Raises ConfigurationError if it needs one and has none."""
    if chosen.api_key is not None:
        return chosen.api_key.get_secret_value()
    key = _own_key(chosen.base_url, chosen.provider)
    if not key and not chosen.base_url and not chosen.headers:
        raise ConfigurationError(
            f"{setting} needs a key: set {_KEYS[chosen.provider]} or the endpoint's api_key, or its"
            " base_url for an endpoint that takes none"
        )
    return key


def _own_key(base_url: str | None, provider: str) -> str | None:
    """Return the key of a provider's own endpoint from the environment; no other gets to see it."""
    return None if base_url else os.environ.get(_KEYS[provider])


def make_extractor(
    settings: Settings,
    judge: SentenceJudge,
    observe: Observer,
    models: LanguageModels,
    types: Sequence[type[BaseModel]] = (),
) -> Extractor:
    """Make the extractor that the settings name; a model fills values of `types`.

    Raises ConfigurationError also for types without a model, and for two of one name.
    """
    from ingest.extract.offline import OfflineExtractor

    rules = OfflineExtractor(judge)
    if not settings.extraction.llm:
        if types:
            raise ConfigurationError(
                "open: types are filled by a language model: set extraction.llm, or leave them out"
            )
        return rules
    from ingest.extract.guidance import Guidance
    from ingest.extract.openai import OpenAIExtractor

    extraction = settings.extraction
    return OpenAIExtractor(
        models.get(extraction.llm, "extraction.llm"),
        rules=rules,
        observe=observe,
        temperature=extraction.temperature,
        guidance=Guidance(
            extraction.instructions,
            extraction.include,
            extraction.exclude,
            {name: own.description for name, own in extraction.categories.items()},
            _by_name(types),
        ),
    )


def _by_name(types: Sequence[type[BaseModel]]) -> dict[str, type[BaseModel]]:
    named = {one.__name__: one for one in types}
    if len(named) < len(types):
        raise ConfigurationError("open: two of the types have one name: rename one")
    return named


def make_condenser(settings: Settings, models: LanguageModels) -> Condenser | None:
    """Make the condenser of histories: the model that extracts, if there is one."""
    if not settings.extraction.llm:
        return None
    from ingest.extract.condense import ModelCondenser

    return ModelCondenser(
        models.get(settings.extraction.llm, "extraction.llm"),
        temperature=settings.extraction.temperature,
    )


def make_summarizer(
    settings: Settings, models: LanguageModels
) -> Callable[[TokenCounter], Summarizer | None]:
    """Return a function that makes the summarizer of windows, given a counter of their tokens."""
    if settings.summary.llm:
        from ingest.extract.summarize import ModelSummarizer

        summarizer = ModelSummarizer(
            models.get(settings.summary.llm, "summary.llm"),
            temperature=settings.extraction.temperature,
        )
        return lambda _: summarizer
    match settings.window.summarizer:
        case "none":
            return lambda _: None
        case "extractive":
            from semantic_memory.session.extractive import ExtractiveSummarizer

            return ExtractiveSummarizer


def make_judge(
    settings: Settings, packaged: PairJudge, observe: Observer, models: LanguageModels
) -> PairJudge | None:
    """Make the judge of two facts' relation where the packaged judge is unsure; None to do without.

    Raises ConfigurationError, and MissingDependencyError without sentence-transformers.
    """
    beliefs = settings.beliefs
    second: PairJudge
    if beliefs.llm:
        from semantic_memory.judging.llm import LLMJudge

        model: ChatModel = models.get(beliefs.llm, "beliefs.llm")
        for budget in make_budgets(settings):
            model = models.within(budget, beliefs.llm, "beliefs.llm")
        second, name = LLMJudge(model), model.name
    elif beliefs.judge == "packaged":
        return None
    else:
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


def make_budgets(settings: Settings) -> list[Budget]:
    """Return the daily budgets of tasks that have one."""
    beliefs = settings.beliefs
    if beliefs.daily_budget_tokens is None and beliefs.daily_budget_usd is None:
        return []
    return [Budget("beliefs", beliefs.daily_budget_tokens, beliefs.daily_budget_usd)]


def make_client(settings: Settings) -> openai.OpenAI:
    """Make the client of the batch API of the endpoint that extracts.

    Raises ConfigurationError if there is no key.
    """
    import openai  # takes longer to import than all the rest, and few stores need it

    chosen = endpoint_settings(settings, settings.extraction.llm, "extraction.llm")
    return openai.OpenAI(
        api_key=_key(chosen, "extraction.llm") or "none",
        base_url=chosen.base_url or _URLS["openai"],
        default_headers=_plain(chosen.headers),
        default_query=dict(chosen.query),
        timeout=chosen.timeout_seconds,
        max_retries=chosen.max_retries,
    )
