"""A call of a tool: whose memory it is about, what the caller may do, and errors a model reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

from semantic_memory.domain.actor import acting
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.callers import Caller, Right

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.memory import SemanticMemory

    MemoryOf = Callable[[], SemanticMemory | Client]

Ctx = Context[Any, Any]
CallerOf = Callable[[Ctx], Caller]


class Calls:
    """The calls of agents on a memory. User and agent are the caller's, never an argument."""

    def __init__(self, memory: MemoryOf, caller_of: CallerOf) -> None:
        self._memory_of = memory
        self._caller_of = caller_of

    @property
    def memory(self) -> SemanticMemory | Client:
        """The memory, which the first call may have to open."""
        return self._memory_of()

    @contextmanager
    def tool(self, ctx: Ctx, right: Right) -> Iterator[tuple[str, Caller]]:
        """Yield the user and the caller of a tool, which limits itself to the caller's agent.

        Raises ToolError, which the agent reads, in place of the memory's errors.
        """
        try:
            with self._allowed(ctx, right) as allowed:
                yield allowed
        except SemanticMemoryError as error:
            raise ToolError(str(error)) from None

    @contextmanager
    def resource(self, ctx: Ctx) -> Iterator[tuple[str, Caller]]:
        """Yield the user and the caller who reads a resource. Raises ResourceNotFoundError."""
        try:
            with self._allowed(ctx, Right.READ) as allowed:
                yield allowed
        except (SemanticMemoryError, ToolError) as error:
            raise ResourceNotFoundError(str(error)) from None

    @contextmanager
    def _allowed(self, ctx: Ctx, right: Right) -> Iterator[tuple[str, Caller]]:
        caller = self._caller_of(ctx)
        user = caller.only_user
        if user is None:
            raise ToolError(
                "this key covers several users: name one in the configuration of this server, by"
                " the header X-Memory-User"
            )
        caller.require(right, user, scoped=True)
        with acting(caller.key):
            yield user, caller
