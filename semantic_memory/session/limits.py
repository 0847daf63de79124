"""How long a prompt may be: what models take, and what of it is kept for what."""

from __future__ import annotations

import re
from dataclasses import dataclass

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.session.parts import Form

# Tokens of the window, as published by the providers; the first that fits the name counts.
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
    """The window of a model by its name. Raises ConfigurationError for an unknown one."""
    name = model.rpartition("/")[2].casefold()
    for pattern, tokens in _WINDOWS:
        if re.match(pattern, name):
            return tokens
    raise ConfigurationError(
        f"the window of model {model!r} isn't known: say how many tokens it takes, as in"
        " session(..., window=32_768)"
    )


def form_of(model: str) -> Form:
    """Which API's messages a model takes; all but Anthropic's take OpenAI's."""
    return "anthropic" if "claude" in model.casefold() else "openai"


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """The use of a window: tokens, and shares of the part after the response.

    Defaults are in `WindowSettings`.
    """

    response_reserve: int
    """Kept for the response, or a quarter of a small window."""
    trigger: float
    """Filled further than this, the window is compacted."""
    target: float
    """What it is compacted to, so that many turns pass before the next time."""
    summary_reserve: int
    """Kept for a summary while it is made, or a quarter of a small window."""
    memory_tokens: int
    """The most for what memory recalls, or a sixth of a small window."""
    keep_last: int
    """Messages that stay whole, as long as they fit at all."""
    result_characters: int
    """What an older tool result is cut to."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens of one window."""

    window: int
    policy: WindowPolicy

    @property
    def effective(self) -> int:
        """The most that a prompt may take."""
        return self.window - min(self.policy.response_reserve, self.window // 4)

    @property
    def trigger(self) -> int:
        """Above this the window is compacted."""
        return int(self.effective * self.policy.trigger)

    @property
    def target(self) -> int:
        """What it is compacted to."""
        return int(self.effective * self.policy.target)

    @property
    def summary_input(self) -> int:
        """The most that a summary can be made of at once."""
        return self.window - min(self.policy.summary_reserve, self.window // 4)

    @property
    def summary(self) -> int:
        """The most that a summary may take in the window."""
        return min(self.policy.summary_reserve, self.effective // 8)

    @property
    def memory(self) -> int:
        """The most for what memory recalls."""
        return min(self.policy.memory_tokens, self.effective // 6)
