"""Summarize a conversation by a language model behind any OpenAI-compatible endpoint.

Any failure is a ProviderError: the caller goes on without a summary.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from ingest.extract.endpoint import Endpoint
from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError

VERSION = "v1"
"""Version of the prompt. A changed prompt is a new file and a new version."""

_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"


class OpenAISummarizer:
    """A `Summarizer` by an endpoint's model.

    An endpoint that takes no temperature, or another name of the token limit, is asked that way
    from then on.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._limit = _LIMIT

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """Return a summary of `transcript` in at most `most_tokens` tokens.

        Lines that speak to a model as instructions are left out. Raises ProviderError.
        """
        completion = self._endpoint.complete(
            "summary", lambda: self._request(transcript, most_tokens), adapt=self._do_without
        )
        choice = completion.choices[0]
        lines = (choice.message.content or "").splitlines()
        told = "\n".join(line for line in lines if line.strip() and not is_instruction(line))
        if choice.message.refusal or not told:
            raise ProviderError("summary failed: the answer holds nothing that can be used")
        return told

    def _request(self, transcript: str, most_tokens: int) -> dict[str, Any]:
        document = {"conversation": transcript, "most_tokens": most_tokens}
        return {
            "messages": [
                {"role": "system", "content": instructions()},
                {"role": "user", "content": json.dumps(document, ensure_ascii=False)},
            ],
            self._limit: most_tokens,
        }

    def _do_without(self, said: str) -> bool:
        """Change an option that the endpoint doesn't know; return False if there is none."""
        if self._limit == _LIMIT and _LIMIT in said:
            self._limit = _NEWER_LIMIT
            return True
        return "temperature" in said and self._endpoint.options.pop("temperature", None) is not None


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"summarize-{VERSION}.md"
    return file.read_text(encoding="utf-8")
