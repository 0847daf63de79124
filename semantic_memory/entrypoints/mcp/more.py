"""The tools that an agent has with `--tools all`: lists, profile, sessions, wider forgetting."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionInfo
from semantic_memory.entrypoints.agent_limits import seen
from semantic_memory.entrypoints.callers import Right
from semantic_memory.entrypoints.mcp import answers
from semantic_memory.entrypoints.mcp.arguments import Limit, Where
from semantic_memory.entrypoints.mcp.calls import Calls, Ctx

SessionId = Annotated[str, Field(description=fields.SESSION)]


class MoreTools:
    """Further tools; each checks the caller's rights, then calls the memory."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def profile(self, ctx: Ctx) -> str:
        """Return the user's profile and history: work, private life, concerns, past events."""
        with self._calls.tool(ctx, Right.READ) as (user, caller):
            found = self._calls.memory.profile.get(user_id=user, agent_id=caller.agent_id)
        return answers.profile(found)

    def list_memories(
        self,
        ctx: Ctx,
        where: Where = "",
        limit: Limit = fields.SHORT_PAGE,
        after: Annotated[str | None, Field(description="Of the page before.")] = None,
    ) -> str:
        """List memories, newest first, without searching."""
        with self._calls.tool(ctx, Right.READ) as (user, caller):
            filters = seen(caller, Filters.joined(where or None, {}))
            found = self._calls.memory.list(user_id=user, filters=filters, limit=limit, after=after)
        return answers.listed(found, found.next)

    def create_session(
        self,
        ctx: Ctx,
        session_id: Annotated[str | None, Field(description=fields.NEW_SESSION)] = None,
    ) -> str:
        """Begin a conversation explicitly; observe begins one too."""
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            info = self._calls.memory.sessions.create(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )
        return _session(info)

    def load_session(self, ctx: Ctx, session_id: SessionId) -> str:
        """Return a conversation's statistics and options, and open it again if it was closed."""
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            info = self._calls.memory.sessions.load(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )
        return _session(info)

    def close_session(self, ctx: Ctx, session_id: SessionId) -> str:
        """End a conversation: its facts are extracted at once, and no messages are taken."""
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            info = self._calls.memory.sessions.close(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )
        return _session(info)

    def forget_memories(
        self,
        ctx: Ctx,
        entity: Annotated[str | None, Field(description=fields.FORGET_ENTITY)] = None,
        query: Annotated[str | None, Field(description=fields.FORGET_QUERY)] = None,
        tag: Annotated[str | None, Field(description=fields.FORGET_TAG)] = None,
        since: Annotated[datetime | None, Field(description=fields.FORGET_SINCE)] = None,
        until: Annotated[datetime | None, Field(description=fields.FORGET_UNTIL)] = None,
        session_id: Annotated[str | None, Field(description=fields.FORGET_SESSION)] = None,
        source: Annotated[str | None, Field(description=fields.FORGET_SOURCE)] = None,
        where: Where = "",
        everything: Annotated[bool, Field(description=fields.EVERYTHING)] = False,
        keep_source: Annotated[bool, Field(description=fields.KEEP_SOURCE)] = False,
        withdraw: Annotated[bool, Field(description=fields.WITHDRAW)] = False,
        force: Annotated[bool, Field(description=fields.FORCE)] = False,
        confirm: Annotated[bool, Field(description=fields.CONFIRM)] = False,
    ) -> str:
        """Show what forgetting all that meet every condition would delete; confirm forgets it."""
        conditions = (entity, query, tag, since, until, session_id, source, where or None)
        if all(one is None for one in conditions) and not everything:
            raise ToolError(
                "say what to forget: entity, query, tag, since, until, session_id, source or where;"
                " or everything=true and nothing else"
            )
        with self._calls.tool(ctx, Right.WRITE) as (user, caller):
            if not confirm:
                caller.require(Right.READ, user, scoped=True)
            found = self._calls.memory.forget(
                user_id=user,
                agent_id=caller.agent_id,
                entity=entity,
                query=query,
                tag=tag,
                since=since,
                until=until,
                session_id=session_id,
                source=source,
                filters=where or None,
                everything=everything,
                keep_source=keep_source,
                withdraw=withdraw,
                dry_run=not confirm,
                force=force,
                reason="asked to",
            )
        return answers.forgetting(found, done=confirm, withdraw=withdraw)


def _session(info: SessionInfo) -> str:
    return answers.cut(info.model_dump_json(exclude_defaults=True, exclude={"user_id"}))
