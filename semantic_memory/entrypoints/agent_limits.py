"""Limits of keys of one agent: its own memories and, to read, the shared ones.

A route that is open to such keys asks for its right with `scoped=True`, and limits itself by these
functions. Every other route refuses them.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def own_namespace(caller: Caller, namespace: Sequence[str]) -> None:
    """Check that an item's namespace is below that of the caller's agent.

    Raises AccessDeniedError, which names it.
    """
    if caller.agent_id is not None and [*namespace[:1]] != _items_of(caller.agent_id):
        raise AccessDeniedError(
            f"this key is limited to agent {caller.agent_id!r}: its items have namespaces that"
            f" begin with the label {_items_of(caller.agent_id)[0]!r}"
        )


def own_prefix(caller: Caller, prefix: Sequence[str]) -> Sequence[str]:
    """Return the prefix of the namespaces that a listing covers: the caller's own by default.

    Raises AccessDeniedError for one outside of it.
    """
    if caller.agent_id is None:
        return prefix
    own = prefix or _items_of(caller.agent_id)
    own_namespace(caller, own)
    return own


def _items_of(agent_id: str) -> list[str]:
    return [f"agent:{agent_id}"]


def owned(caller: Caller, fact: Fact) -> Fact:
    """Return a memory that the caller may change.

    Raises NotFoundError as `shown` does, AccessDeniedError for a shared one.
    """
    if shown(caller, fact).agent_id != caller.agent_id and caller.agent_id is not None:
        raise AccessDeniedError(
            f"this key changes memories of agent {caller.agent_id!r} alone, and this one is shared"
        )
    return fact
