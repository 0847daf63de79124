"""Extract by a language model behind any OpenAI-compatible endpoint.

A failure leads to:

    no connection, time-out, 408, 409, 429, 5xx     tried again by the client, with back-off, then
                                                    ProviderError: to be read again later
    401, 403, 404; no chat completion in the body   ProviderError at once
    413, context too long, answer cut off           the stretch is halved, then the rules
    400 or 422, but the endpoint served others      the rules: it would be refused again
    refused, content filter                         the rules
    not JSON even when repaired, wrong types        the rules

So a model that stammers costs quality and no message; an endpoint that is down costs time and
nothing else. The rules are the offline extractor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import openai

from ingest.extract import prompt
from ingest.extract.answer import (
    SCHEMA,
    AnswerError,
    Completion,
    joined,
    read_answer,
    read_completion,
)
from ingest.extract.breaker import CircuitBreaker
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, ExtractionFellBack, ModelCalled
from semantic_memory.domain.extraction import Extraction
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Extractor

_MOST_CHARACTERS = 200_000  # of one request, some 50,000 tokens; more is halved before it is sent
_MOST_HALVINGS = 4
_MOST_ERROR_CHARACTERS = 200
# How endpoints other than OpenAI's say it.
_TOO_LONG = ("context length", "context window", "context size", "prompt is too long")

_SCHEMA_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "extraction", "strict": True, "schema": SCHEMA},
}


class Price(NamedTuple):
    """Price of a model, in US dollars for a million tokens."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of a call in US dollars, without discounts for cached input."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


class OpenAIExtractor:
    """`POST /chat/completions` with a strict JSON schema, through the openai client.

    `client` has the endpoint, the key, the time-out and the retries. An endpoint that takes no
    schema, or no temperature, is asked without from then on.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        *,
        rules: Extractor,
        breaker: CircuitBreaker,
        observe: Callable[[Event], None],
        temperature: float = 0.1,
        price: Price | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._rules = rules
        self._breaker = breaker
        self._observe = observe
        self._price = price
        self._options: dict[str, Any] = {
            "temperature": temperature,
            "response_format": _SCHEMA_FORMAT,
        }
        self._served = False

    @property
    def name(self) -> str:
        """The endpoint's kind, the model and the version of the prompt: `openai:gpt-4o-mini/v1`."""
        return f"openai:{self._model}/{prompt.VERSION}"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Return facts, profile and history, each naming its messages; system messages aren't read.

        Raises ProviderError if the endpoint can't be reached or won't serve.
        """
        spoken = prompt.spoken(messages)
        return self._read(spoken, known, 0) if spoken else Extraction()

    def request(self, messages: Sequence[Message], known: Sequence[Fact]) -> dict[str, Any]:
        """Return the body of the request."""
        chat = prompt.chat(messages, known)
        return {"model": self._model, "messages": chat, **self._options}

    def accept(
        self,
        completion: Completion,
        messages: Sequence[Message],
        seconds: float,
        price_factor: float = 1.0,
    ) -> Extraction:
        """Read a completion about `messages` and report its cost. Raises AnswerError."""
        usage = completion.usage
        read, written = (
            (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        )
        cost = self._price.of(read, written) * price_factor if self._price and usage else None
        self._observe(ModelCalled("extraction", self._model, read, written, cost, seconds))
        return read_answer(completion, messages)

    def by_rules(self, messages: Sequence[Message], known: Sequence[Fact], why: str) -> Extraction:
        """Extract by the rules from `messages` that the model failed on."""
        self._observe(ExtractionFellBack(self.name, why, len(messages)))
        extraction = self._rules.extract(messages, known)
        return extraction.model_copy(
            update={
                "candidates": tuple(
                    candidate.model_copy(update={"extractor": self._rules.name})
                    for candidate in extraction.candidates
                )
            }
        )

    def _read(
        self, messages: Sequence[Message], known: Sequence[Fact], halvings: int
    ) -> Extraction:
        try:
            if sum(len(message.content) for message in messages) > _MOST_CHARACTERS:
                raise AnswerError("too_long")
            start = time.perf_counter()
            completion = self._ask(messages, known)
            return self.accept(completion, messages, time.perf_counter() - start)
        except AnswerError as error:
            if error.reason != "too_long" or len(messages) == 1 or halvings == _MOST_HALVINGS:
                return self.by_rules(messages, known, error.reason)
        middle = len(messages) // 2
        return joined(
            [
                self._read(half, known, halvings + 1)
                for half in (messages[:middle], messages[middle:])
            ]
        )

    def _ask(self, messages: Sequence[Message], known: Sequence[Fact]) -> Completion:
        if wait := self._breaker.wait():
            raise ProviderError(
                f"the endpoint failed {self._breaker.failures} times in a row and is left alone for"
                f" another {wait:.0f} s"
            )
        try:
            completion = self._send(messages, known)
        except ProviderError:
            if self._breaker.failed():
                self._observe(
                    BreakerOpened(self.name, self._breaker.failures, self._breaker.open_seconds)
                )
            raise
        self._breaker.succeeded()
        self._served = True
        return completion

    def _send(self, messages: Sequence[Message], known: Sequence[Fact]) -> Completion:
        """Send a request. Raises AnswerError if this one can't be served, else ProviderError."""
        create = self._client.chat.completions.with_raw_response.create
        try:
            return read_completion(create(**self.request(messages, known)).content)
        except openai.APIStatusError as error:
            if error.status_code in (400, 422) and self._do_without(error):
                return self._send(messages, known)
            if _too_long(error):
                raise AnswerError("too_long") from error
            if error.code == "content_filter":
                raise AnswerError("refused") from error
            if error.status_code in (400, 422) and self._served:
                raise AnswerError("rejected") from error
            raise ProviderError(f"the extraction endpoint refused: {_told(error)}") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"the extraction endpoint failed: {_told(error)}") from error

    def _do_without(self, error: openai.APIStatusError) -> bool:
        """Leave out an option that the endpoint doesn't know; return whether there was one."""
        said = str(error).casefold()
        if "response_format" in self._options and (
            "response_format" in said or "json_schema" in said
        ):
            if self._options["response_format"] is _SCHEMA_FORMAT:
                self._options["response_format"] = {"type": "json_object"}
            else:
                del self._options["response_format"]
            return True
        return "temperature" in said and self._options.pop("temperature", None) is not None


def _too_long(error: openai.APIStatusError) -> bool:
    said = str(error).casefold()
    return (
        error.status_code == 413
        or error.code == "context_length_exceeded"
        or (error.status_code in (400, 422) and any(words in said for words in _TOO_LONG))
    )


def _told(error: openai.OpenAIError) -> str:
    # An endpoint may quote the request; events carry no text of messages.
    return f"{type(error).__name__}: {str(error)[:_MOST_ERROR_CHARACTERS]}"
