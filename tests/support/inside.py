"""The shared parts of an open memory, for tests that look at the ledger or hold the background."""

from __future__ import annotations

from semantic_memory import SemanticMemory
from semantic_memory.bootstrap import SharedParts, UseCases
from semantic_memory.testing import use_cases


def inside(memory: SemanticMemory | UseCases) -> SharedParts:
    """Return the parts that the use cases of `memory` share."""
    return (memory if isinstance(memory, UseCases) else use_cases(memory)).shared
