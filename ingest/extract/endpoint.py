"""One model behind an OpenAI-compatible endpoint, for tasks that the caller can do without."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import openai

from ingest.extract.answer import Completion, read_completion
from ingest.extract.breaker import CircuitBreaker
from ingest.extract.openai import Price
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, ModelCalled

_MOST_ERROR_CHARACTERS = 200


class Endpoint:
    """`POST /chat/completions` through the openai client, with a circuit breaker and costs."""

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        *,
        breaker: CircuitBreaker,
        observe: Callable[[Event], None],
        temperature: float = 0.1,
        price: Price | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._breaker = breaker
        self._observe = observe
        self._price = price
        self.options: dict[str, Any] = {"temperature": temperature}
        """Members of every request, besides the model."""

    def complete(
        self,
        task: str,
        request: Callable[[], Mapping[str, Any]],
        *,
        adapt: Callable[[str], bool] = lambda _: False,
    ) -> Completion:
        """Return the model's answer to `request` and report what it cost as `task`'s.

        A request refused as wrong is made again if `adapt`, given the error, changed something.
        Raises ProviderError.
        """
        if wait := self._breaker.wait():
            raise ProviderError(f"the endpoint is left alone for another {wait:.0f} s")
        start = time.perf_counter()
        try:
            completion = self._ask(request, adapt)
        except (openai.OpenAIError, ProviderError) as error:
            if self._breaker.failed():
                name = f"openai:{self._model}"
                self._observe(
                    BreakerOpened(name, self._breaker.failures, self._breaker.open_seconds)
                )
            told = str(error)[:_MOST_ERROR_CHARACTERS]
            raise ProviderError(f"{task} failed: {type(error).__name__}: {told}") from error
        self._breaker.succeeded()
        self._report(task, completion, time.perf_counter() - start)
        return completion

    def _ask(
        self, request: Callable[[], Mapping[str, Any]], adapt: Callable[[str], bool]
    ) -> Completion:
        create: Any = self._client.chat.completions.with_raw_response.create
        while True:
            try:
                body = create(model=self._model, **request(), **self.options).content
            except openai.APIStatusError as error:
                if error.status_code in (400, 422) and adapt(str(error).casefold()):
                    continue
                raise
            return read_completion(body)

    def _report(self, task: str, completion: Completion, seconds: float) -> None:
        usage = completion.usage
        read, written = (
            (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        )
        cost = self._price.of(read, written) if self._price and usage else None
        self._observe(ModelCalled(task, self._model, read, written, cost, seconds))
