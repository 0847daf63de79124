"""Limits of keys of one agent: its own memories and, to read, those that are shared.

A route that is open to such keys asks for its right with `scoped=True`, and limits itself by these
functions. Every other route refuses them.
"""

from __future__ import annotations

from semantic_memory.domain.errors import AccessDeniedError, NotFoundError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.entrypoints.callers import Caller


def seen(caller: Caller, filters: Filters) -> Filters:
    """Return filters that admit only what the caller sees.

    Raises AccessDeniedError if they ask for another agent.
    """
    if caller.agent_id is None:
        return filters
    allowed = frozenset({caller.agent_id, None})
    asked = allowed if filters.agents is None else frozenset(filters.agents)
    if not asked <= allowed:
        raise caller.limited()
    return Filters.of(filters.model_dump(exclude_unset=True) | {"agents": asked})


def shown(caller: Caller, fact: Fact) -> Fact:
    """Return a memory. Raises NotFoundError if it is of an agent that the caller doesn't see."""
    if not caller.sees(fact.agent_id):
        raise NotFoundError(f"no memory {fact.id!r}")
    return fact


def owned(caller: Caller, fact: Fact) -> Fact:
    """Return a memory that the caller may change.

    Raises NotFoundError as `shown` does, AccessDeniedError for a shared one.
    """
    if shown(caller, fact).agent_id != caller.agent_id and caller.agent_id is not None:
        raise AccessDeniedError(
            f"this key changes memories of agent {caller.agent_id!r} alone, and this one is shared"
        )
    return fact
