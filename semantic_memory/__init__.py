"""Memory for AI agents: conversations in, dated and scored facts out, packed into a token budget.

from semantic_memory import Message, SemanticMemory

with SemanticMemory.open("memory") as memory:
    memory.observe([Message(role="user", content="I moved to Oslo in May.")],
                   user_id="u1", session_id="s1")
    memory.flush()
    block = memory.context("Where do I live?", user_id="u1", budget=500)
    print(block.text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semantic_memory.models import (
    Candidate,
    Category,
    Context,
    Fact,
    FactVersion,
    Filters,
    Hit,
    Message,
    Overview,
    Receipt,
    ScoreParts,
    Source,
    Status,
)

if TYPE_CHECKING:
    from semantic_memory.memory import SemanticMemory
    from semantic_memory.settings import Settings

__all__ = [
    "Candidate",
    "Category",
    "Context",
    "Fact",
    "FactVersion",
    "Filters",
    "Hit",
    "Message",
    "Overview",
    "Receipt",
    "ScoreParts",
    "SemanticMemory",
    "Settings",
    "Source",
    "Status",
]


def __getattr__(name: str) -> Any:
    # The facade imports every layer; loading it late keeps the values importable from any of them.
    if name == "SemanticMemory":
        from semantic_memory.memory import SemanticMemory

        return SemanticMemory
    if name == "Settings":
        from semantic_memory.settings import Settings

        return Settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
