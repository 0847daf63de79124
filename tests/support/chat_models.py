"""Clients of language models on a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from pydantic import SecretStr

from semantic_memory.bootstrap.models import LanguageModels
from semantic_memory.concurrency import SystemClock
from semantic_memory.domain.events import Event
from semantic_memory.domain.observers import ignore_event
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.llm.breaker import CircuitBreaker
from semantic_memory.llm.endpoint import Endpoint
from semantic_memory.llm.openai import OpenAIForm
from semantic_memory.llm.spending import SpendBook
from semantic_memory.llm.transport import Transport
from semantic_memory.settings import LLMSettings, Settings
from tests.support.openai_server import OpenAIServer


@contextmanager
def model_at(
    server: OpenAIServer,
    observe: Callable[[Event], None] = ignore_event,
    *,
    model: str = "gpt-4o-mini",
    failures: int = 3,
    seconds: float = 60.0,
    **options: Any,
) -> Iterator[Endpoint]:
    """Return the client of a model on `server`, which sleeps for no retry."""
    with httpx.Client(base_url=server.url, timeout=seconds) as client:
        yield Endpoint(
            OpenAIForm(Transport(client, seconds), model),
            model,
            breaker=CircuitBreaker(failures),
            observe=observe,
            **{"max_retries": 0, "sleep": lambda _: None, **options},
        )


def models_of(
    settings: Settings, observe: Callable[[Event], None], resources: ExitStack
) -> LanguageModels:
    """Return the clients of the endpoints in the settings, with a book of their own."""
    directory = resources.enter_context(TemporaryDirectory())
    ledger = SqliteLedger(Path(directory) / "ledger.sqlite3")
    resources.callback(ledger.close)
    return LanguageModels(settings, observe, SpendBook(ledger, SystemClock()), resources)


def endpoint(url: str, **values: Any) -> dict[str, LLMSettings]:
    """Return the settings of the endpoint `test`, for `Settings(llm=...)`."""
    chosen = {"model": "gpt-4o-mini", "usd_per_million_tokens": (0.15, 0.60), **values}
    return {"test": LLMSettings(base_url=url, api_key=SecretStr("sk-test"), **chosen)}
