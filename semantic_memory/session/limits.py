"""Limits of prompts: the windows of models, and the division of a window."""

from __future__ import annotations

import re
from dataclasses import dataclass

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.session.parts import Form

# Tokens of the window, as published by the providers; the first pattern that matches counts.
_WINDOWS = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5", 400_000),
    (r"gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-.*preview", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"o[134](-|$)", 200_000),
    (r"claude", 200_000),
    (r"gemini", 1_048_576),
)


def window_of(model: str) -> int:
    """Return a model's window in tokens. Raises ConfigurationError for an unknown model."""
    name = model.rpartition("/")[2].casefold()
    for pattern, tokens in _WINDOWS:
        if re.match(pattern, name):
            return tokens
    raise ConfigurationError(
        f"the window of model {model!r} isn't known: pass its size in tokens, as in"
        " session(..., window=32_768)"
    )


def form_of(model: str) -> Form:
    """Return the form of messages that a model takes; all but Anthropic's take OpenAI's."""
    return "anthropic" if "claude" in model.casefold() else "openai"


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """The use of a window: tokens, and shares of the part after the response.

    Defaults are in `WindowSettings`.
    """

    response_reserve: int
    """Reserved for the response, or a quarter of a small window."""
    trigger: float
    """The share above which the window is compacted."""
    target: float
    """The share to which it is compacted, so that many turns pass before the next time."""
    summary_reserve: int
    """Reserved for a summary while it is made, or a quarter of a small window."""
    memory_tokens: int
    """The most for recalled memories, or a sixth of a small window."""
    keep_last: int
    """The latest messages, which stay whole as long as they fit."""
    result_characters: int
    """Characters to which an older tool result is cut."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The division of one window, in tokens."""

    window: int
    policy: WindowPolicy

    @property
    def effective(self) -> int:
        """The limit of a prompt."""
        return self.window - min(self.policy.response_reserve, self.window // 4)

    @property
    def trigger(self) -> int:
        """The size above which the window is compacted."""
        return int(self.effective * self.policy.trigger)

    @property
    def target(self) -> int:
        """The size to which the window is compacted."""
        return int(self.effective * self.policy.target)

    @property
    def summary_input(self) -> int:
        """The limit of the text that is summarized at once."""
        return self.window - min(self.policy.summary_reserve, self.window // 4)

    @property
    def summary(self) -> int:
        """The limit of a summary in the window."""
        return min(self.policy.summary_reserve, self.effective // 8)

    @property
    def memory(self) -> int:
        """The limit of recalled memories."""
        return min(self.policy.memory_tokens, self.effective // 6)
