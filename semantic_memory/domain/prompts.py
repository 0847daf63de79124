"""Records of what entered prompts: which memories, when, for whom and why, without any text."""

from __future__ import annotations

from typing import Literal

from semantic_memory.domain.values import Timestamp, Value

Reason = Literal["profile", "core", "history", "important", "recalled"]
"""`recalled` for the question; the others whatever it is: fields of the profile, facts of the core
profile, tiers of the history, facts of great importance."""


class PromptMemory(Value):
    """A memory that entered a prompt."""

    id: str
    reason: Reason
    score: float | None = None
    """The score in the search; None for what is shown whatever the question."""
    space: str | None = None
    """The further user, such as a team, whose memory it is; None for the user's own."""


class PromptRecord(Value):
    """A block that was packed for a prompt."""

    at: Timestamp
    user_id: str
    session_id: str | None = None
    """The session whose prompt it entered; None for a block that was asked for alone."""
    caller: str | None = None
    """The name of the API key, where there is one."""
    tokens: int
    relevance: float
    memories: tuple[PromptMemory, ...]
    """In the order of the block."""
