"""Summarize a conversation by a language model behind any OpenAI-compatible endpoint.

Any failure is a ProviderError: the caller goes on without a summary.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import openai

from ingest.extract.answer import Completion, read_completion
from ingest.extract.breaker import CircuitBreaker
from ingest.extract.openai import Price
from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, ModelCalled

VERSION = "v1"
"""Version of the prompt. A changed prompt is a new file and a new version."""

_MOST_ERROR_CHARACTERS = 200
_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"


class OpenAISummarizer:
    """`POST /chat/completions` through the openai client; a `Summarizer`.

    An endpoint that takes no temperature, or another name of the token limit, is asked that way
    from then on.
    """

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
        self._options: dict[str, Any] = {"temperature": temperature}
        self._limit = _LIMIT

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """Return a summary of `transcript` in at most `most_tokens` tokens.

        Lines that speak to a model as instructions are left out. Raises ProviderError.
        """
        if wait := self._breaker.wait():
            raise ProviderError(f"the endpoint is left alone for another {wait:.0f} s")
        start = time.perf_counter()
        try:
            completion = self._ask(transcript, most_tokens)
        except (openai.OpenAIError, ProviderError) as error:
            if self._breaker.failed():
                self._observe(
                    BreakerOpened(
                        f"openai:{self._model}", self._breaker.failures, self._breaker.open_seconds
                    )
                )
            told = str(error)[:_MOST_ERROR_CHARACTERS]
            raise ProviderError(f"summarizing failed: {type(error).__name__}: {told}") from error
        self._breaker.succeeded()
        self._report(completion, time.perf_counter() - start)
        choice = completion.choices[0]
        lines = (choice.message.content or "").splitlines()
        told = "\n".join(line for line in lines if line.strip() and not is_instruction(line))
        if choice.message.refusal or not told:
            raise ProviderError("summarizing failed: the answer holds nothing that can be used")
        return told

    def _ask(self, transcript: str, most_tokens: int) -> Completion:
        create = self._client.chat.completions.with_raw_response.create
        try:
            body = create(**self._request(transcript, most_tokens)).content
        except openai.APIStatusError as error:
            if error.status_code in (400, 422) and self._do_without(str(error).casefold()):
                return self._ask(transcript, most_tokens)
            raise
        return read_completion(body)

    def _request(self, transcript: str, most_tokens: int) -> dict[str, Any]:
        document = {"conversation": transcript, "most_tokens": most_tokens}
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": instructions()},
                {"role": "user", "content": json.dumps(document, ensure_ascii=False)},
            ],
            self._limit: most_tokens,
            **self._options,
        }

    def _do_without(self, said: str) -> bool:
        """Change an option that the endpoint doesn't know; return False if there is none."""
        if self._limit == _LIMIT and _LIMIT in said:
            self._limit = _NEWER_LIMIT
            return True
        return "temperature" in said and self._options.pop("temperature", None) is not None

    def _report(self, completion: Completion, seconds: float) -> None:
        usage = completion.usage
        read, written = (
            (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        )
        cost = self._price.of(read, written) if self._price and usage else None
        self._observe(ModelCalled("summary", self._model, read, written, cost, seconds))


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"summarize-{VERSION}.md"
    return file.read_text(encoding="utf-8")
