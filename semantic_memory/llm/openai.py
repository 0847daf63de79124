"""The form of OpenAI's chat completions: `POST /chat/completions`.

https://platform.openai.com/docs/api-reference/chat, and what servers that speak it do otherwise:
content in parts, errors with status 200, no usage.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from semantic_memory.domain.errors import ProviderError
from semantic_memory.llm.chat import ChatRequest
from semantic_memory.llm.dialect import Dialect
from semantic_memory.llm.forms import Answer, Finish, by_schema, usage_of
from semantic_memory.llm.refusals import refusal_of
from semantic_memory.llm.transport import Transport

_CUT = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "safety", "prohibited_content"})


class OpenAIForm:
    """Requests and answers in the form of OpenAI's chat completions."""

    kind = "openai"

    def __init__(self, transport: Transport, model: str) -> None:
        self._transport = transport
        self._model = model

    def send(self, request: ChatRequest, dialect: Dialect) -> Answer:
        """Send a request. Raises RefusalError, UnreachableError, ProviderError."""
        return read_answer(self._transport.post("chat/completions", self.body(request, dialect)))

    def body(self, request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
        """Return the body of a request."""
        form = dialect.form("format")
        system = request.system
        if request.schema is not None and form != "json_schema":
            system = by_schema(request)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": request.user},
            ],
        }
        if dialect.form("temperature") is not None:
            body["temperature"] = request.temperature
        if request.schema is not None and form is not None:
            body["response_format"] = {"type": form}
            if form == "json_schema":
                named = {"name": request.task, "strict": True, "schema": request.schema}
                body["response_format"]["json_schema"] = named
        if request.most_tokens is not None and (limit := dialect.form("limit")) is not None:
            body[limit] = request.most_tokens
        return body


class _Said(BaseModel):
    content: str | Sequence[Any] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None
    error: Any = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class _Failed(BaseModel):
    error: Any


def read_answer(body: bytes | Mapping[str, Any]) -> Answer:
    """Read a chat completion, as it was sent or already parsed.

    Raises RefusalError if it is an error with the status of a success, ProviderError if it is
    nothing of the kind.
    """
    try:
        if isinstance(body, bytes):
            completion = _Completion.model_validate_json(body)
        else:
            completion = _Completion.model_validate(body)
    except ValidationError:
        _raise_error(body)
        start = body[:80].decode("utf-8", "replace") if isinstance(body, bytes) else "JSON"
        raise ProviderError(
            f"the endpoint answered with something else than a chat completion: {start!r}; check"
            " its base_url"
        ) from None
    choice = completion.choices[0]
    if choice.error:
        _raise_error({"error": choice.error})
    usage = usage_of(completion.usage, "prompt_tokens", "completion_tokens")
    return Answer(_text(choice.message), _finish(choice), usage)


def _raise_error(body: bytes | Mapping[str, Any]) -> None:
    """Raise the error that an answer holds, if it does."""
    try:
        failed = (
            _Failed.model_validate_json(body)
            if isinstance(body, bytes)
            else _Failed.model_validate(body)
        )
    except ValidationError:
        return
    error = failed.error
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    raise refusal_of(status, {"error": error}, json.dumps(error)) from None


def _text(message: _Said) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    parts = (part.get("text") for part in message.content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _finish(choice: _Choice) -> Finish:
    reason = (choice.finish_reason or "").casefold()
    if choice.message.refusal or reason in _FILTERED:
        return "refused"
    return "cut" if reason in _CUT else "whole"
