"""Read what an endpoint's refusal means, from its status, its codes and, last, its words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Meaning = Literal["passing", "access", "too_long", "filtered", "unsupported"]
"""`passing`: try again; `access`: key, model name or quota; `unsupported`: something in this
request, an option or the text; `filtered`: the text offends a policy."""

_PASSING = frozenset({408, 409, 425, 429})
_ACCESS = frozenset({401, 402, 403, 404, 405, 410})
_TOO_LONG = (
    "context length",
    "context window",
    "context size",
    "context limit",
    "context_length",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many input tokens",
)
_FILTERED = ("content_filter", "content_policy", "responsibleai", "flagged", "moderation")
_QUOTA = ("quota", "billing", "credit", "payment", "spend limit", "spending limit", "budget")
_KEY = ("api key", "api_key", "apikey")
_MOST_TOLD = 200  # characters; an endpoint may quote the request, and events carry no text of it
_MOST_READ = 10_000
_MOST_SAID = 1_000


@dataclass(frozen=True, slots=True)
class RefusalError(Exception):
    """An endpoint answered with an error."""

    status: int
    told: str
    """Its message, cut short."""
    said: str = ""
    """Its text in lower case: its message, and that of the server behind it."""
    codes: frozenset[str] = frozenset()
    """Codes and types of the error."""
    wait: float | None = None
    """Seconds after which it wants to be asked again."""

    def __str__(self) -> str:
        return f"status {self.status}: {self.told}"

    @property
    def meaning(self) -> Meaning:
        """Its meaning for the request.

        >>> RefusalError(429, "", codes=frozenset({"insufficient_quota"})).meaning
        'access'
        """
        by_code = " ".join(sorted(self.codes))
        if any(word in by_code or word in self.said for word in _FILTERED):
            return "filtered"
        asked = self.status in (400, 422)
        if (
            self.status == 413
            or "context_length" in by_code
            or ((asked or self.status >= 500) and any(word in self.said for word in _TOO_LONG))
        ):
            return "too_long"
        if any(word in by_code for word in _QUOTA):
            return "access"
        if asked and any(word in self.said for word in (*_KEY, "credit balance")):
            return "access"
        if self.status in _PASSING or (self.status >= 500 and self.status != 501):
            return "passing"
        if self.status in _ACCESS or self.status < 400:
            return "access"
        return "unsupported"


def read_refusal(status: int, body: bytes, wait: float | None = None) -> RefusalError:
    """Read an error in the form of OpenAI, Azure, vLLM, Ollama, LiteLLM, OpenRouter or Anthropic.

    >>> read_refusal(404, b'{"error": "model not found"}').told
    'model not found'
    """
    text = body[:_MOST_READ].decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    return refusal_of(status, document, text, wait)


def refusal_of(status: int, document: Any, text: str, wait: float | None = None) -> RefusalError:
    """Read an error from its parsed form, or else from its text."""
    outer = document if isinstance(document, dict) else {}
    inner = outer.get("error", outer.get("detail", outer))
    error = inner if isinstance(inner, dict) else {"message": inner}
    message = str(error.get("message") or text.strip() or "no reason given")
    codes = {
        str(value).casefold()
        for value in (error.get("code"), error.get("type"), error.get("status"))
        if isinstance(value, str)
    }
    details = [message[:_MOST_SAID], error.get("param"), _behind(error.get("metadata"))]
    said = " ".join(str(detail) for detail in details if detail).casefold()
    told = " ".join(message.split())[:_MOST_TOLD]
    return RefusalError(status, told, said, frozenset(codes), wait)


def _behind(metadata: Any) -> str | None:
    """Return what the server behind a router answered."""
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return None if raw is None else str(raw)[:_MOST_SAID]
