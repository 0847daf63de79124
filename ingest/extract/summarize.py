"""Summarize a conversation by a language model.

Any failure is a ProviderError: the caller continues without a summary.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError
from semantic_memory.llm.chat import ChatModel, ChatRequest

VERSION = "v1"
"""Version of the prompt. A changed prompt is a new file and a new version."""


class ModelSummarizer:
    """A `Summarizer` by a language model."""

    def __init__(self, model: ChatModel, *, temperature: float = 0.1) -> None:
        self._model = model
        self._temperature = temperature

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """Return a summary of `transcript` in at most `most_tokens` tokens.

        Lines that speak to a model as instructions are left out. Raises ProviderError.
        """
        document = {"conversation": transcript, "most_tokens": most_tokens}
        completion = self._model.complete(
            ChatRequest(
                "summary",
                instructions(),
                json.dumps(document, ensure_ascii=False),
                temperature=self._temperature,
                most_tokens=most_tokens,
            )
        )
        lines = completion.text.splitlines()
        told = "\n".join(line for line in lines if line.strip() and not is_instruction(line))
        if not told:
            raise ProviderError("summary failed: the answer holds nothing that can be used")
        return told


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"summarize-{VERSION}.md"
    return file.read_text(encoding="utf-8")
