"""The context block that adapters put before a model."""

from __future__ import annotations

from semantic_memory.domain.recall import Context
from semantic_memory.domain.requests import ContextRequest
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.integrations.steps import Steps


def packed(question: str, *, user_id: str, budget: int) -> Steps[str]:
    """Pack the block for a question of any length; empty if it asks nothing."""
    query = clipped(question, MAX_QUERY_BYTES)
    if not query.strip():
        return ""
    found: Context = yield ContextRequest.of(query, user_id=user_id, budget=budget)
    return found.text
