"""The five tools that every agent has: remember, recall, update_memory, forget, observe."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.filters import FilterLike, Filters
from semantic_memory.domain.trust import Trust
from semantic_memory.entrypoints.agent_limits import owned, shown
from semantic_memory.entrypoints.callers import Right
from semantic_memory.entrypoints.mcp import answers
from semantic_memory.entrypoints.mcp.arguments import (
    AnyCategory,
    Content,
    Limit,
    MemoryId,
    Messages,
    NewCategory,
    NewContent,
    OwnTags,
    SessionId,
    Text,
    Time,
    Where,
)
from semantic_memory.entrypoints.mcp.calls import Calls, Ctx

BUDGET = 1_000
"""Tokens of a context block."""
_HITS = 10
_CONFIDENCE = 0.9  # an agent is a little less sure than an application that adds a fact


class Tools:
    """The tools of every agent; each checks the caller's rights, then calls the memory."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def remember(
        self,
        ctx: Ctx,
        content: Content,
        category: AnyCategory = fields.DEFAULT_CATEGORY,
        tags: OwnTags = None,
        expires_at: Time = None,
    ) -> str:
        """Remember one fact permanently. A known fact is confirmed; a newer one ends an older."""
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            fact = self._calls.memory.add(
                content,
                user_id=user,
                agent_id=caller.agent_id,
                category=category,
                confidence=_CONFIDENCE,
                tags=tags or (),
                expires_at=expires_at,
                trust=Trust.AGENT,
            )
        return f"Remembered: id {fact.id}"

    def recall(
        self,
        ctx: Ctx,
        query: Annotated[Text, Field(description="A question, or words.")] = None,
        as_context: Annotated[
            bool, Field(description="Return profile and memories as one text, without ids.")
        ] = False,
        where: Where = "",
        limit: Limit = _HITS,
        memory_id: Annotated[MemoryId, Field(description="Instead: one memory in full.")] = None,
    ) -> str:
        """Find what is remembered. Call it before answering anything about the user or the past."""
        if (query is None) == (memory_id is None):
            raise ToolError("give a query, or the memory_id of one memory")
        with self._calls.tool(ctx, Right.READ) as (user, caller):
            memory = self._calls.memory
            if memory_id is not None:
                return answers.whole(shown(caller, memory.get(memory_id, user_id=user)))
            asked: dict[str, Any] = {
                "user_id": user,
                "agent_id": caller.agent_id,
                "spaces": caller.beside(user),
                "filters": where or None,
            }
            if as_context:
                block = memory.context(query or "", budget=BUDGET, **asked).text
                return block or "Nothing is remembered about that."
            return answers.hits(memory.search(query or "", k=limit, **asked))

    def update_memory(
        self,
        ctx: Ctx,
        memory_id: str,
        content: NewContent = None,
        category: NewCategory = None,
        tags: OwnTags = None,
        expires_at: Time = None,
    ) -> str:
        """Correct a memory that recall returned. Its history keeps the state before."""
        given = {"content": content, "category": category, "tags": tags, "expires_at": expires_at}
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if not changes:
            raise ToolError(f"say what to change: {', '.join(given)}")
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            memory = self._calls.memory
            owned(caller, memory.get(memory_id, user_id=user))
            if content is not None:  # the words are the agent's from now on
                changes["trust"] = Trust.AGENT
            memory.update(memory_id, user_id=user, reason="corrected by an agent", **changes)
        return "Updated."

    def forget(
        self,
        ctx: Ctx,
        memory_id: MemoryId = None,
        about: Annotated[Text, Field(description="A subject, like: Anna's divorce.")] = None,
        where: Where = "",
        confirm: Annotated[bool, Field(description="The user has agreed: forget it.")] = False,
    ) -> str:
        """Show what forgetting a memory, a subject or all that meets conditions would delete.

        With confirm it is forgotten permanently.
        """
        if (memory_id is None) == (about is None and not where):
            raise ToolError("say what to forget: memory_id alone, or about, where, or both")
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            if not confirm:
                caller.require(Right.READ, user, scoped=True)
            filters: FilterLike = where or None
            if memory_id is not None:
                owned(caller, self._calls.memory.get(memory_id, user_id=user))
                filters = Filters(ids=frozenset([memory_id]))
            found = self._calls.memory.forget(
                user_id=user,
                agent_id=caller.agent_id,
                query=about,
                filters=filters,
                dry_run=not confirm,
                reason="asked to",
            )
        return answers.forgetting(found, done=confirm)

    def observe(self, ctx: Ctx, session_id: SessionId, messages: Messages) -> str:
        """Hand over messages as they were said; facts are extracted from them."""
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            receipt = self._calls.memory.observe(
                [message.message() for message in messages],
                user_id=user,
                session_id=session_id,
                agent_id=caller.agent_id,
            )
        known = f", {receipt.duplicates:,} were known" if receipt.duplicates else ""
        return f"Took in {receipt.accepted:,} messages{known}."
