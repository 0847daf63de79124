"""Condense a history by a language model behind any OpenAI-compatible endpoint.

Any failure is a ProviderError: the caller keeps the most central lines instead.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

import json_repair
import openai
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ingest.extract.answer import read_completion
from ingest.extract.breaker import CircuitBreaker
from ingest.extract.openai import Price
from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, ModelCalled
from semantic_memory.domain.ports import Condensed
from semantic_memory.domain.profile import Line
from semantic_memory.domain.values import Content

VERSION = "v1"
"""Version of the prompt. A changed prompt is a new file and a new version."""

_MOST_ERROR_CHARACTERS = 200
_TEXT: TypeAdapter[str] = TypeAdapter(Content)


class _Sentence(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    text: str
    lines: list[int] = Field(min_length=1)


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    sentences: list[_Sentence]


class OpenAICondenser:
    """`POST /chat/completions` with a strict JSON schema, through the openai client."""

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
        self._temperature = temperature
        self._price = price

    def condense(self, lines: Sequence[Line], *, most: int) -> list[Condensed]:
        """Return at most `most` sentences, each naming the lines that it rests on."""
        if wait := self._breaker.wait():
            raise ProviderError(f"the endpoint is left alone for another {wait:.0f} s")
        start = time.perf_counter()
        try:
            body = self._client.chat.completions.with_raw_response.create(
                **self._request(lines, most)
            ).content
            completion = read_completion(body)
        except (openai.OpenAIError, ProviderError) as error:
            if self._breaker.failed():
                self._observe(
                    BreakerOpened(
                        f"openai:{self._model}", self._breaker.failures, self._breaker.open_seconds
                    )
                )
            told = str(error)[:_MOST_ERROR_CHARACTERS]
            raise ProviderError(f"condensing failed: {type(error).__name__}: {told}") from error
        self._breaker.succeeded()
        usage = completion.usage
        read, written = (
            (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        )
        cost = self._price.of(read, written) if self._price and usage else None
        seconds = time.perf_counter() - start
        self._observe(ModelCalled("condensing", self._model, read, written, cost, seconds))
        return _read(completion.choices[0].message.content or "", len(lines), most)

    def _request(self, lines: Sequence[Line], most: int) -> dict[str, Any]:
        document = {
            "lines": [
                {"n": number, "at": line.at.date().isoformat(), "text": line.text}
                for number, line in enumerate(lines, start=1)
            ],
            "most": most,
        }
        return {
            "model": self._model,
            "temperature": self._temperature,
            "messages": [
                {"role": "system", "content": instructions()},
                {"role": "user", "content": json.dumps(document, ensure_ascii=False)},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "history",
                    "strict": True,
                    "schema": _Answer.model_json_schema(),
                },
            },
        }


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"condense-{VERSION}.md"
    return file.read_text(encoding="utf-8")


def _read(text: str, number: int, most: int) -> list[Condensed]:
    """Read an answer; leave out sentences that name no line, or speak to a model."""
    try:
        sentences = _Answer.model_validate(json_repair.loads(text)).sentences
    except (ValidationError, RecursionError):
        raise ProviderError("condensing failed: the answer has another form") from None
    told = []
    for sentence in sentences[:most]:
        rests_on = tuple(sorted({place - 1 for place in sentence.lines if 1 <= place <= number}))
        try:
            said = _TEXT.validate_python(sentence.text.strip())
        except ValidationError:
            continue
        if rests_on and not is_instruction(said):
            told.append(Condensed(said, rests_on))
    if not told:
        raise ProviderError("condensing failed: the answer holds no sentence that can be used")
    return told
