"""The adaptive client of a language model: retries, circuit breaker, costs, and what it learns.

A failure leads to:

    no connection, time-out, 408, 409, 429, 5xx     tried again with back-off, then ProviderError
    401, 402, 403, 404, quota                       ProviderRefusedError
    413, context too long, JSON that is cut off     InputTooLongError: ask for less
    400 or 422 of an option                         asked again without it, from then on
    400 or 422 nevertheless                         InputRefusedError, or ProviderRefusedError if a
                                                    plain request is refused as well
    refused, content filter, over 2 MB              AnswerUnusableError, InputRefusedError
    no chat completion in the body                  ProviderError
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Set
from typing import Any, NamedTuple

from semantic_memory.domain.errors import (
    AnswerUnusableError,
    InputRefusedError,
    InputTooLongError,
    ProviderError,
    ProviderRefusedError,
)
from semantic_memory.domain.events import BreakerOpened, Event, ModelCalled
from semantic_memory.llm.breaker import CircuitBreaker
from semantic_memory.llm.chat import ChatRequest, Completion, Usage
from semantic_memory.llm.dialect import BAREST, Dialect, Negotiation, Option
from semantic_memory.llm.forms import Answer, Form
from semantic_memory.llm.json_text import json_text, said
from semantic_memory.llm.refusals import RefusalError
from semantic_memory.llm.spending import charged
from semantic_memory.llm.transport import UnreachableError

MOST_TEXT = 250_000
"""Longest text of an answer that is read, in characters: ten times as much as sixty facts take."""

_LONGEST_BACK_OFF = 8.0
_LONGEST_WAIT = 60.0  # that an endpoint may ask for within one call
_CHARACTERS_A_TOKEN = 4  # of a text whose tokens the endpoint doesn't tell
_PLAIN = ChatRequest("check", "Answer with one word.", "Are you there?")


class Price(NamedTuple):
    """Price of a model, in US dollars for a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Return the cost of a call in US dollars, without discounts for cached input."""
        read, written = usage
        return (read * self.input + written * self.output) / 1_000_000


class Endpoint:
    """A `ChatModel` behind an endpoint that speaks some `form`. Thread-safe.

    It sends what it has learnt that the endpoint takes: a JSON schema, or else JSON of any schema,
    or else text; a temperature and a limit of tokens, or none.
    """

    def __init__(
        self,
        form: Form,
        model: str,
        *,
        breaker: CircuitBreaker,
        observe: Callable[[Event], None],
        price: Price | None = None,
        context_tokens: int | None = None,
        max_retries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = f"{form.kind}:{model}"
        self._form = form
        self._model = model
        self._breaker = breaker
        self._observe = observe
        self.price = price
        self._context_tokens = context_tokens
        self._max_retries = max_retries
        self._sleep = sleep
        self._lock = threading.Lock()
        self._dialect = Dialect()
        self._served = False
        self._refuses = False
        """The last failure was a refusal."""

    @property
    def dialect(self) -> Dialect:
        """The known options that the endpoint takes."""
        return self._dialect

    def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer; see `ChatModel`."""
        if wait := self._breaker.wait():
            kind = ProviderRefusedError if self._refuses else ProviderError
            raise kind(f"{self.name} kept failing and is left alone for {wait:.0f} s more")
        if self._context_tokens and request.estimated_tokens > self._context_tokens:
            raise InputTooLongError(
                f"a request of about {request.estimated_tokens} tokens exceeds the"
                f" {self._context_tokens} that {self.name} takes"
            )
        start = time.perf_counter()
        try:
            answer = self._negotiate(request)
        except (InputRefusedError, AnswerUnusableError):
            self._breaker.succeeded()  # it works, though not on this
            raise
        except ProviderError as error:
            self._refuses = isinstance(error, ProviderRefusedError)
            if self._breaker.failed():
                breaker = self._breaker
                self._observe(BreakerOpened(self.name, breaker.failures, breaker.open_seconds))
            raise
        self._breaker.succeeded()
        return self.accept(request, answer, time.perf_counter() - start)

    def answers(self) -> bool:
        """Ask something plain, once, whatever the breaker says; return True if it is answered."""
        try:
            self._form.send(_PLAIN, BAREST)
        except (RefusalError, UnreachableError, ProviderError):
            return False
        self._served = True
        self._breaker.succeeded()
        return True

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the body in which a request would be sent, for the batch API."""
        return self._form.body(request, self._dialect)

    def accept(
        self, request: ChatRequest, answer: Answer, seconds: float, price_factor: float = 1.0
    ) -> Completion:
        """Report the cost of an answer, and return it if it can be used.

        Raises AnswerUnusableError, InputTooLongError.
        """
        usage = answer.usage or Usage(
            request.estimated_tokens, len(answer.text) // _CHARACTERS_A_TOKEN
        )
        cost = self.price.of(usage) * price_factor if self.price else None
        self._observe(ModelCalled(request.task, self._model, *usage, cost, seconds, charged()))
        if answer.finish == "refused":
            raise AnswerUnusableError(f"{self.name} refuses to answer")
        if len(answer.text) > MOST_TEXT:
            raise AnswerUnusableError(
                f"the answer of {self.name} has {len(answer.text):,} characters; at most"
                f" {MOST_TEXT:,} are read"
            )
        if request.schema is None:
            return Completion(said(answer.text), usage)
        if answer.finish == "cut":
            raise InputTooLongError(f"the answer of {self.name} was cut off")
        return Completion(json_text(answer.text, request.schema), usage)

    def _negotiate(self, request: ChatRequest) -> Answer:
        """Send a request in the best form that the endpoint takes, and learn that form."""
        negotiation = Negotiation(self._dialect, _used(request))
        while True:
            try:
                answer = self._send(request, negotiation.tried)
            except RefusalError as refusal:
                guess = refusal.meaning == "unsupported"
                # Some servers fail, or find no model, for want of an option that they name.
                perhaps = guess or refusal.status == 404 or refusal.status >= 500
                guess = guess or (refusal.status == 404 and "parameters" in refusal.said)
                if perhaps and negotiation.refused(refusal.said, guess=guess):
                    continue
                raise self._error(refusal) from refusal
            with self._lock:
                self._dialect = negotiation.served()
                self._served = True
            return answer

    def _send(self, request: ChatRequest, dialect: Dialect) -> Answer:
        """Send a request, repeatedly if necessary. Raises RefusalError, ProviderError."""
        for retry in range(self._max_retries + 1):
            try:
                return self._form.send(request, dialect)
            except RefusalError as refusal:
                wait = refusal.wait
                if refusal.meaning != "passing" or (wait or 0.0) > _LONGEST_WAIT:
                    raise
                if retry == self._max_retries:
                    raise
            except UnreachableError as error:
                wait = None
                if retry == self._max_retries:
                    raise ProviderError(f"{self.name} can't be reached: {error}") from error
            self._sleep(_back_off(retry) if wait is None else wait)
        raise AssertionError("the last try returns or raises")

    def _error(self, refusal: RefusalError) -> ProviderError:
        """Return the error that a refusal amounts to."""
        match refusal.meaning:
            case "too_long":
                return InputTooLongError(f"the request is too long for {self.name}: {refusal}")
            case "filtered":
                return InputRefusedError(f"{self.name} refuses the text: {refusal}")
            case "access":
                return ProviderRefusedError(f"{self.name} refuses every request: {refusal}")
            case "passing":
                return ProviderError(f"{self.name} failed: {refusal}")
            case "unsupported":
                if self._served or self.answers():
                    return InputRefusedError(f"{self.name} rejects the request: {refusal}")
                return ProviderRefusedError(f"{self.name} rejects every request: {refusal}")


def _used(request: ChatRequest) -> Set[Option]:
    """Return the options of a request that an endpoint may not take."""
    used: set[Option] = {"temperature"}
    if request.schema is not None:
        used.add("format")
    if request.most_tokens is not None:
        used.add("limit")
    return used


def _back_off(retry: int) -> float:
    """Return the seconds before a retry, the first of which is 0: about half one, doubling."""
    longest = min(_LONGEST_BACK_OFF, 0.5 * 2.0**retry)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 - spreads clients, keeps no secret
