"""The port of language models, and the values that pass through it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from semantic_memory.domain.errors import InputTooLongError

_BYTES_A_TOKEN = 3  # errs on the safe side: 4 in English, 3 for a character of Chinese

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Usage(NamedTuple):
    """Tokens of a call."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a language model: instructions, and a document that is data."""

    task: str
    """The purpose that its cost is reported with: `extraction`, `beliefs`, `summary`, ..."""
    system: str
    """Instructions, the same for every request of the task, so that prompt caches hold."""
    user: str
    """The data."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the answer, in the subset of strict structured outputs; None for text."""
    temperature: float = 0.0
    most_tokens: int | None = None
    """Limit of the answer's length."""

    @property
    def estimated_tokens(self) -> int:
        """Number of tokens that it takes at most in most languages, without counting them."""
        schema = len(json.dumps(self.schema)) if self.schema else 0
        characters = len(self.system.encode()) + len(self.user.encode("utf-8", "replace")) + schema
        return characters // _BYTES_A_TOKEN


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer: text, or the JSON document in it if the request had a schema."""

    text: str
    usage: Usage


class ChatModel(Protocol):
    """A language model that answers requests."""

    @property
    def name(self) -> str:
        """The kind of endpoint and the model, `openai:gpt-4o-mini`."""
        ...

    def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer, which may still have another form than the schema.

        Raises InputTooLongError if the request, or an answer by a schema, exceeds a limit,
        AnswerUnusableError if the model refuses or answers endlessly, InputRefusedError if the
        endpoint rejects this request alone, ProviderRefusedError if it rejects all of them, and
        ProviderError if it can't be reached.
        """
        ...


def in_halves(
    items: Sequence[ItemT], ask: Callable[[Sequence[ItemT]], ResultT], *, most: int = 4
) -> list[ResultT]:
    """Ask about all items at once, or, where that is too long, about each half, `most` times over.

    Returns the results in order. Raises InputTooLongError if a part that isn't halved any more is
    too long.
    """
    try:
        return [ask(items)]
    except InputTooLongError:
        if len(items) < 2 or most == 0:
            raise
    middle = len(items) // 2
    return [
        result
        for half in (items[:middle], items[middle:])
        for result in in_halves(half, ask, most=most - 1)
    ]
