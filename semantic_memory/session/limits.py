"""Limits on the prompt: the context windows of models, and their division."""

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
    """Return the context window of a model in tokens. Raises ConfigurationError if unknown."""
    name = model.rpartition("/")[2].casefold()
    for pattern, tokens in _WINDOWS:
        if re.match(pattern, name):
            return tokens
    raise ConfigurationError(
        f"the window of model {model!r} isn't known: pass its size in tokens, as in"
        " session(..., window=32_768)"
    )


def form_of(model: str) -> Form:
    """Return the message form of a model: Anthropic's for Claude, OpenAI's for all others."""
    return "anthropic" if "claude" in model.casefold() else "openai"


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """Division of a window, in tokens or as shares of the window less the response reserve."""

    response_reserve: int = 13_000
    """Tokens reserved for the response, at most a quarter of the window."""
    trigger: float = 0.85
    """Share above which the window is compacted."""
    target: float = 0.6
    """Share that it is compacted to, low enough to last for many turns."""
    summary_reserve: int = 20_000
    """Tokens reserved for a summary while it is generated, at most a quarter of the window."""
    memory_tokens: int = 2_000
    """Largest context block in tokens, at most a sixth of the window."""
    keep_last: int = 10
    """Number of recent messages that stay whole, as long as they fit."""
    result_characters: int = 10_000
    """Characters that an older tool result is cut to."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Token budget of one window."""

    window: int
    policy: WindowPolicy

    @property
    def effective(self) -> int:
        """Largest prompt in tokens."""
        return self.window - min(self.policy.response_reserve, self.window // 4)

    @property
    def trigger(self) -> int:
        """Tokens above which the window is compacted."""
        return int(self.effective * self.policy.trigger)

    @property
    def target(self) -> int:
        """Tokens that the window is compacted to."""
        return int(self.effective * self.policy.target)

    @property
    def summary_input(self) -> int:
        """Largest input of a summary in tokens."""
        return self.window - min(self.policy.summary_reserve, self.window // 4)

    @property
    def summary(self) -> int:
        """Largest summary in tokens."""
        return min(self.policy.summary_reserve, self.effective // 8)

    @property
    def memory(self) -> int:
        """Largest context block in tokens."""
        return min(self.policy.memory_tokens, self.effective // 6)
