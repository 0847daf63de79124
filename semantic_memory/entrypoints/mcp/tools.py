"""Tools, resources and a prompt over a memory, for callers with rights to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.actor import acting
from semantic_memory.domain.bodies import Body
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.domain.facts import Category
from semantic_memory.domain.filters import FilterLike, Filters
from semantic_memory.domain.messages import SessionInfo
from semantic_memory.domain.profile import Overview
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust
from semantic_memory.entrypoints.agent_limits import owned, seen, shown
from semantic_memory.entrypoints.callers import Caller, Right
from semantic_memory.entrypoints.mcp.schemas import (
    MOST_HITS,
    AgentId,
    AsAgent,
    AsRun,
    Block,
    Categories,
    Forgotten,
    Limit,
    Memories,
    OfAgent,
    OfRun,
    OwnTags,
    Query,
    Remembered,
    RunId,
    Said,
    SessionId,
    Since,
    Spaces,
    Tags,
    Taken,
    Until,
    UserId,
    Where,
    filters_of,
    remembered,
)

if TYPE_CHECKING:
    from semantic_memory.client import Client
    from semantic_memory.memory import SemanticMemory

    MemoryOf = Callable[[], SemanticMemory | Client]

CallerOf = Callable[[Context[Any, Any]], Caller]
Ctx = Context[Any, Any]

_MOST_BUDGET = 32_000
_BUDGET = 1_000
_SCORE = fields.LEAST_SCORE.default
_CONFIDENCE = 0.9  # an agent is a little less sure than an application that adds a fact


class Tools:
    """The tools, resources and prompt; each checks the caller's rights, then calls the memory."""

    def __init__(self, memory: MemoryOf, caller_of: CallerOf) -> None:
        self._memory = memory
        self._caller_of = caller_of

    def search_memory(
        self,
        ctx: Ctx,
        query: Query,
        limit: Limit = fields.HITS.default,
        categories: Categories = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        where: Where = "",
        min_score: Annotated[
            float, Field(ge=fields.LEAST_SCORE.least, description=fields.LEAST_SCORE.description)
        ] = _SCORE,
        agent_id: AsAgent = None,
        run_id: AsRun = None,
        spaces: Spaces = None,
        user_id: UserId = None,
    ) -> Memories:
        """Find memories about something, best first.

        Use it to look something up or to get ids; to answer a question, get_context packs more.
        """
        with self._scoped(ctx, Right.READ, user_id) as (user, caller):
            filters = filters_of(where, categories, tags, since, until)
            hits = self._memory().search(
                query,
                user_id=user,
                agent_id=caller.agent(agent_id),
                run_id=run_id,
                spaces=caller.beside(user, spaces),
                k=limit,
                filters=filters,
                min_score=min_score,
            )
        return Memories(memories=[remembered(hit.fact, hit) for hit in hits[:MOST_HITS]])

    def get_context(
        self,
        ctx: Ctx,
        query: Query,
        budget: Annotated[
            int,
            Field(ge=fields.BUDGET.least, le=_MOST_BUDGET, description=fields.BUDGET.description),
        ] = _BUDGET,
        min_trust: Annotated[Trust | None, Field(description=fields.LEAST_TRUST)] = None,
        agent_id: AsAgent = None,
        run_id: AsRun = None,
        spaces: Spaces = None,
        user_id: UserId = None,
    ) -> Block:
        """Get the user's profile and the memories that help with a question, within a token budget.

        Call it first whenever the answer may depend on the user or on earlier conversations.
        """
        with self._scoped(ctx, Right.READ, user_id) as (user, caller):
            packed = self._memory().context(
                query,
                user_id=user,
                agent_id=caller.agent(agent_id),
                run_id=run_id,
                spaces=caller.beside(user, spaces),
                budget=budget,
                min_trust=min_trust,
            )
        return Block(text=packed.text, tokens=packed.tokens)

    def profile(self, ctx: Ctx, user_id: UserId = None) -> Overview:
        """Get the user's profile and history: work, private life, current concerns, past events."""
        with self._scoped(ctx, Right.READ, user_id) as (user, caller):
            return self._memory().profile.get(user_id=user, agent_id=caller.agent_id)

    def list_memories(
        self,
        ctx: Ctx,
        limit: Limit = fields.SHORT_PAGE,
        after: Annotated[str | None, Field(description=fields.AFTER)] = None,
        categories: Categories = None,
        tags: Tags = None,
        since: Since = None,
        until: Until = None,
        where: Where = "",
        agent_id: OfAgent = None,
        run_id: OfRun = None,
        user_id: UserId = None,
    ) -> Memories:
        """List memories, newest first, without searching; for the next page give `next`."""
        with self._scoped(ctx, Right.READ, user_id) as (user, caller):
            narrowed = filters_of(where, categories, tags, since, until)
            filters = Filters.joined(narrowed, Scope(agent_id, run_id).own)
            found = self._memory().list(
                user_id=user,
                filters=seen(caller, filters),
                limit=limit,
                after=after,
            )
        return Memories(memories=[remembered(fact) for fact in found], next=found.next)

    def add_memory(
        self,
        ctx: Ctx,
        content: Annotated[str, Field(description=fields.CONTENT)],
        category: Annotated[Category, Field(description=fields.CATEGORY)] = fields.DEFAULT_CATEGORY,
        confidence: Annotated[
            float, Field(ge=0, le=1, description=fields.CONFIDENCE.description)
        ] = _CONFIDENCE,
        tags: OwnTags = None,
        expires_at: Annotated[datetime | None, Field(description=fields.EXPIRES_AT)] = None,
        body: Annotated[Body | None, Field(description=fields.BODY)] = None,
        agent_id: AgentId = None,
        run_id: RunId = None,
        user_id: UserId = None,
    ) -> Remembered:
        """Remember one fact permanently. A known fact is confirmed, not doubled."""
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            reads, agent_id = caller.reads(user), caller.agent(agent_id)
            fact = self._memory().add(
                content,
                user_id=user,
                agent_id=agent_id,
                run_id=run_id,
                category=category,
                confidence=confidence,
                tags=tags or (),
                expires_at=expires_at,
                body=body,
                trust=Trust.AGENT,
            )
        if reads:
            return remembered(fact)
        return Remembered(  # the caller's own words alone
            id=fact.id,
            content=content,
            category=category,
            confidence=confidence,
            trust=Trust.AGENT,
            tags=tags or [],
            agent_id=agent_id,
            run_id=run_id,
            body=body,
        )

    def observe_messages(
        self,
        ctx: Ctx,
        session_id: Annotated[
            str, Field(description="Id of the conversation, the same for all of its messages.")
        ],
        messages: Annotated[
            list[Said],
            Field(min_length=1, max_length=fields.MOST_ITEMS, description=fields.MESSAGES),
        ],
        agent_id: AgentId = None,
        run_id: RunId = None,
        user_id: UserId = None,
    ) -> Taken:
        """Hand over messages of a conversation as they were said; facts are extracted from them."""
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            said = [message.message() for message in messages]
            receipt = self._memory().observe(
                said,
                user_id=user,
                session_id=session_id,
                agent_id=caller.agent(agent_id),
                run_id=run_id,
            )
        return Taken(accepted=receipt.accepted, duplicates=receipt.duplicates)

    def create_session(
        self,
        ctx: Ctx,
        session_id: Annotated[str | None, Field(description=fields.NEW_SESSION)] = None,
        user_id: UserId = None,
    ) -> SessionInfo:
        """Begin a conversation explicitly; observe_messages begins one too."""
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            return self._memory().sessions.create(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )

    def load_session(self, ctx: Ctx, session_id: SessionId, user_id: UserId = None) -> SessionInfo:
        """Get a conversation's statistics and options, and continue with it if it was closed."""
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            return self._memory().sessions.load(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )

    def close_session(self, ctx: Ctx, session_id: SessionId, user_id: UserId = None) -> SessionInfo:
        """End a conversation: its facts are extracted at once, and no messages are taken."""
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            caller.require(Right.READ, user, scoped=True)  # it answers with statistics
            return self._memory().sessions.close(
                user_id=user, session_id=session_id, agent_id=caller.agent_id
            )

    def forget_memories(
        self,
        ctx: Ctx,
        memory_id: Annotated[
            str | None, Field(description="Forget this memory, and give nothing else.")
        ] = None,
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
        confirm: Annotated[bool, Field(description=fields.CONFIRM)] = False,
        force: Annotated[bool, Field(description=fields.FORCE)] = False,
        agent_id: OfAgent = None,
        run_id: OfRun = None,
        user_id: UserId = None,
    ) -> Forgotten:
        """Show what forgetting one memory, or all that meet every condition, would delete.

        Showing needs the right to read. Call it with `confirm` once the user has agreed: it
        can't be undone.
        """
        said = (entity, query, tag, since, until, where or None)
        conditions = (*said, session_id, agent_id, run_id, source)
        given = any(one is not None for one in conditions) or everything
        if (memory_id is None) != given:
            raise ToolError(
                "say what to forget: memory_id, or entity, query, tag, since, until, session_id,"
                " agent_id, run_id, source or where; or everything=true and nothing else"
            )
        filters: FilterLike = where or None
        with self._scoped(ctx, Right.WRITE, user_id) as (user, caller):
            if not confirm:
                caller.require(Right.READ, user, scoped=True)
            if memory_id is not None:
                owned(caller, self._memory().get(memory_id, user_id=user))  # refuses unknown ones
                filters = Filters(ids=frozenset([memory_id]))
            found = self._memory().forget(
                user_id=user,
                entity=entity,
                query=query,
                tag=tag,
                since=since,
                until=until,
                session_id=session_id,
                agent_id=caller.agent(agent_id),
                run_id=run_id,
                source=source,
                filters=filters,
                everything=everything,
                keep_source=keep_source,
                withdraw=withdraw,
                dry_run=not confirm,
                force=force,
                reason="asked to",
            )
        shown = [remembered(fact) for fact in found.memories]
        return Forgotten(
            forgotten=int(found),
            memories=shown,
            sentences=list(found.sentences),
            items=found.items,
            warning=found.warning,
            kept_in=list(found.kept_in),
        )

    def memory(self, ctx: Ctx, user_id: str, memory_id: str) -> str:
        """One memory in full, with its source and dates."""
        with self._readable(ctx, user_id, scoped=True) as caller:
            fact = shown(caller, self._memory().get(memory_id, user_id=user_id))
        return fact.model_dump_json(exclude_defaults=True)

    def sessions(self, ctx: Ctx, user_id: str) -> str:
        """A user's conversations, the latest first."""
        with self._readable(ctx, user_id, scoped=True) as caller:
            found = self._memory().sessions.list(user_id=user_id, agent_id=caller.agent_id)
        return json.dumps([info.model_dump(mode="json") for info in found])

    def tags(self, ctx: Ctx, user_id: str) -> str:
        """A user's tags, each with the number of memories that have it or one below it."""
        with self._readable(ctx, user_id):
            found = self._memory().profile.tags(user_id=user_id)
        return json.dumps({one.tag: one.memories for one in found})

    def session(self, ctx: Ctx, user_id: str, session_id: str) -> str:
        """The messages of a conversation."""
        with self._readable(ctx, user_id, scoped=True) as caller:
            said = self._memory().sessions.messages(
                user_id=user_id, session_id=session_id, agent_id=caller.agent_id
            )
        return "\n".join(f"{message.speaker}: {message.content}" for message in said)

    def with_memory(self, ctx: Ctx, question: str, user_id: str | None = None) -> str:
        """A question, with the memories that help to answer it."""
        with self._scoped(ctx, Right.READ, user_id) as (user, caller):
            packed = self._memory().context(
                question,
                user_id=user,
                agent_id=caller.agent(None),
                spaces=caller.beside(user, None),
                budget=_BUDGET,
            )
        return f"{packed.text}\n\n{question}".strip()

    @contextmanager
    def _scoped(self, ctx: Ctx, right: Right, user_id: str | None) -> Iterator[tuple[str, Caller]]:
        """Yield the user of a call that limits itself to the caller's agent, and the caller.

        Turns errors into ones that the agent can read.
        """
        caller = self._caller_of(ctx)
        user = user_id or caller.only_user
        if user is None:
            raise ToolError("give a user_id: there is no default user here")
        try:
            caller.require(right, user, scoped=True)
            with acting(caller.key):
                yield user, caller
        except SemanticMemoryError as error:
            raise ToolError(str(error)) from None

    @contextmanager
    def _readable(self, ctx: Ctx, user_id: str, *, scoped: bool = False) -> Iterator[Caller]:
        caller = self._caller_of(ctx)
        try:
            caller.require(Right.READ, user_id, scoped=scoped)
            yield caller
        except SemanticMemoryError as error:
            raise ResourceNotFoundError(str(error)) from None
