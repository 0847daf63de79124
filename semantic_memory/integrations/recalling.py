"""The context block that adapters put before a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from semantic_memory.domain.recall import Context
from semantic_memory.domain.requests import ContextRequest
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance
from semantic_memory.integrations.steps import Steps

Run = TypeVar("Run")


def owner_in(given: Callable[[Run], str] | str, run: Run) -> str:
    """Return the id of the user of a run: `given`, or what it returns for the run."""
    return identifier_of(given if isinstance(given, str) else given(run))


def last_question(latest_first: Iterable[Utterance | None]) -> str:
    """Return what the user said last; empty if nothing."""
    return next((one.text for one in latest_first if one and one.role == "user"), "")


def packed(question: str, *, user_id: str, budget: int) -> Steps[str]:
    """Pack the block for a question of any length; empty if it asks nothing."""
    query = clipped(question, MAX_QUERY_BYTES)
    if not query.strip():
        return ""
    found: Context = yield ContextRequest.of(query, user_id=user_id, budget=budget)
    return found.text
