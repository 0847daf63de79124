"""Common parts of the requests and answers of different providers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from semantic_memory.llm.chat import ChatRequest, Usage
from semantic_memory.llm.dialect import Dialect

Finish = Literal["whole", "cut", "refused"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer as a provider sent it."""

    text: str
    finish: Finish = "whole"
    usage: Usage | None = None


class Form(Protocol):
    """A provider's form of requests and answers."""

    @property
    def kind(self) -> str:
        """The provider's name."""
        ...

    def body(self, request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
        """Return the body of a request."""
        ...

    def send(self, request: ChatRequest, dialect: Dialect) -> Answer:
        """Send a request with the options that `dialect` has.

        Raises RefusalError if the endpoint answers with an error, UnreachableError if it doesn't
        answer, AnswerUnusableError if its answer has no end, ProviderError if it is nothing of the
        kind.
        """
        ...


def by_schema(request: ChatRequest) -> str:
    """Return the instructions with the schema of the answer, for endpoints that enforce none."""
    schema = json.dumps(request.schema, ensure_ascii=False)
    return (
        f"{request.system}\n\nAnswer with one JSON object, and nothing else, that fits this JSON"
        f" schema:\n{schema}"
    )


def usage_of(usage: Any, read: str, written: str) -> Usage | None:
    """Return the tokens that an answer says it took; None if it doesn't say so in numbers."""
    if not isinstance(usage, dict):
        return None
    numbers = [usage.get(read), usage.get(written)]
    whole = [number for number in numbers if isinstance(number, int) and number >= 0]
    return Usage(*whole) if len(whole) == 2 else None
