"""Anthropic's own form, `POST /v1/messages`, through the anthropic client.

https://docs.anthropic.com/en/api/messages. The system's instructions are a field of their own, a
limit of tokens is required, and there is no JSON without a schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anthropic
from pydantic import BaseModel, ValidationError

from semantic_memory.domain.errors import ProviderError
from semantic_memory.llm.chat import ChatRequest
from semantic_memory.llm.dialect import Dialect
from semantic_memory.llm.forms import Answer, Finish, by_schema, usage_of
from semantic_memory.llm.refusals import read_refusal
from semantic_memory.llm.transport import UnreachableError, bounded, deadline, retry_after

_MOST_TOKENS = 8_192  # of an answer to a request that has no limit
_FINISHES: dict[str, Finish] = {
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "refusal": "refused",
}


class AnthropicForm:
    """Requests and answers in the form of Anthropic's messages."""

    kind = "anthropic"

    def __init__(self, client: anthropic.Anthropic, model: str, seconds: float) -> None:
        """Give up an answer that isn't complete after `seconds`. `client` retries nothing."""
        self._client = client
        self._model = model
        self._seconds = seconds

    def send(self, request: ChatRequest, dialect: Dialect) -> Answer:
        """Send a request. Raises RefusalError, UnreachableError, ProviderError."""
        end = deadline(self._seconds)
        create: Any = self._client.messages.with_streaming_response.create
        body = self.body(request, dialect)
        # Versions of the client differ in the options that they know; all send `extra_body`.
        named = {name: body.pop(name) for name in ("model", "messages", "max_tokens")}
        try:
            with create(**named, extra_body=body) as response:
                return read_answer(bounded(response.iter_bytes(), end))
        except anthropic.APIStatusError as error:
            wait = retry_after(error.response.headers)
            raise read_refusal(error.status_code, error.response.content, wait) from error
        except (anthropic.APIError, OSError) as error:
            raise UnreachableError(f"{type(error).__name__}: {error}") from error

    def body(self, request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
        """Return the body of a request."""
        enforced = request.schema is not None and dialect.form("format") == "json_schema"
        plain = request.schema is None or enforced
        body: dict[str, Any] = {
            "model": self._model,
            "system": request.system if plain else by_schema(request),
            "messages": [{"role": "user", "content": request.user}],
            "max_tokens": request.most_tokens or _MOST_TOKENS,
        }
        if dialect.form("temperature") is not None:
            body["temperature"] = min(request.temperature, 1.0)
        if enforced:
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        return body


class _Block(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    content: Sequence[_Block]
    stop_reason: str | None = None
    usage: Any = None


def read_answer(body: bytes) -> Answer:
    """Read a message as it was sent. Raises ProviderError if it is nothing of the kind."""
    try:
        message = _Message.model_validate_json(body)
    except ValidationError:
        start = body[:80].decode("utf-8", "replace")
        raise ProviderError(
            f"the endpoint answered with something else than a message: {start!r}; check its"
            " base_url"
        ) from None
    text = "".join(block.text for block in message.content if block.type == "text")
    finish = _FINISHES.get(message.stop_reason or "", "whole")
    return Answer(text, finish, usage_of(message.usage, "input_tokens", "output_tokens"))
