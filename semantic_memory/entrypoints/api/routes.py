"""The routes for memories: each checks who asks, calls the facade once, returns what it says."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from semantic_memory.domain.facts import Explanation, Fact
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import Receipt, SessionOptions
from semantic_memory.domain.profile import Overview, ProfileField
from semantic_memory.domain.recall import Context
from semantic_memory.domain.values import Identifier, Timestamp, derived_id
from semantic_memory.entrypoints.api.access import (
    AnyReader,
    AnyWriter,
    CurrentCaller,
    Reader,
    Writer,
    documents_key,
)
from semantic_memory.entrypoints.api.bodies import (
    MOST_POINTS,
    Changes,
    ContextQuestion,
    Facts,
    Forgetting,
    Forgotten,
    History,
    Hits,
    Lines,
    Listing,
    Messages,
    NewMemories,
    NewMemory,
    Observation,
    Page,
    ProfileChanges,
    Reason,
    Restoration,
    SearchQuestion,
    SessionChanges,
    Sessions,
)
from semantic_memory.entrypoints.api.idempotency import (
    IdempotencyKey,
    Once,
    accepts_idempotency_key,
)
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.keys import Right
from semantic_memory.memory import SemanticMemory

EVERYWHERE = documented(400, 401, 403, 408, 413, 421, 422, 429, 500, 503)
UNKNOWN = documented(404)
CONFLICT = documented(409)

reads = APIRouter(prefix="/v1", responses=EVERYWHERE, dependencies=[Depends(documents_key)])
writes = APIRouter(
    prefix="/v1",
    route_class=Once,
    responses=EVERYWHERE | CONFLICT,
    dependencies=[Depends(documents_key), Depends(accepts_idempotency_key)],
)


async def opened(request: Request) -> SemanticMemory:
    """The memory that is served."""
    memory: SemanticMemory = request.app.state.memory
    return memory


Opened = Annotated[SemanticMemory, Depends(opened)]
MemoryId = Annotated[Identifier, Path(description="Id of a memory.")]
SessionId = Annotated[Identifier, Query(description="A session of the user.")]
Why = Annotated[Reason, Query(description="Kept in the memory's history.")]


@writes.post("/messages", status_code=202, tags=["conversations"])
def observe(
    body: Observation,
    caller: CurrentCaller,
    memory: Opened,
    idempotency_key: IdempotencyKey = None,
) -> Receipt:
    """Take in messages of a conversation; they are on disk when this answers.

    Each is found by its words moments later; facts are extracted once the session is quiet. Known
    message ids are skipped.
    """
    caller.require(Right.WRITE, body.user_id)
    said = body.messages
    if idempotency_key is not None:  # the same ids, should the answer be lost with the service
        said = [
            message
            if "id" in message.model_fields_set
            else message.model_copy(
                update={"id": derived_id(caller.name, idempotency_key, str(place))}
            )
            for place, message in enumerate(said)
        ]
    return memory.observe(said, user_id=body.user_id, session_id=body.session_id)


@writes.post("/memories", status_code=201, tags=["memories"])
def add(body: NewMemory, caller: CurrentCaller, memory: Opened) -> Fact:
    """Add one fact; found by the next search. A known one is confirmed, and returned."""
    caller.require(Right.WRITE, body.user_id)
    return memory.add(
        body.content,
        user_id=body.user_id,
        category=body.category,
        confidence=body.confidence,
        importance=body.importance,
        tags=body.tags,
        references=body.references,
        metadata=body.metadata,
        created_at=body.created_at,
    )


@writes.post("/memories/batch", status_code=201, tags=["memories"])
def add_many(body: NewMemories, caller: CurrentCaller, memory: Opened) -> Facts:
    """Add facts, all or none; each comes back as the memory that says it, in order."""
    caller.require(Right.WRITE, body.user_id)
    items = [item.model_dump(exclude_unset=True) for item in body.items]
    return Facts(items=memory.add_many(items, user_id=body.user_id))


@reads.get("/memories", tags=["memories"], responses=UNKNOWN)
def list_(asked: Annotated[Listing, Query()], caller: CurrentCaller, memory: Opened) -> Page:
    """A user's memories, newest first, a page at a time."""
    caller.require(Right.READ, asked.user_id)
    found = memory.list(
        user_id=asked.user_id,
        filters=asked.filters(),
        status=asked.status,
        limit=asked.limit + 1,
        after=asked.cursor,
    )
    more = len(found) > asked.limit
    items = found[: asked.limit]
    return Page(items=items, next=items[-1].id if more else None)


@reads.get("/memories/{memory_id}", tags=["memories"], responses=UNKNOWN)
def get(memory_id: MemoryId, user_id: AnyReader, memory: Opened) -> Fact:
    """One memory. One of another user is as unknown as one that never was."""
    return memory.get(memory_id, user_id=user_id)


@writes.patch("/memories/{memory_id}", tags=["memories"], responses=UNKNOWN)
def update(memory_id: MemoryId, body: Changes, user_id: AnyWriter, memory: Opened) -> Fact:
    """Change a memory; its state before stays in its history."""
    return memory.update(memory_id, user_id=user_id, reason=body.reason, **body.given())


@writes.delete(
    "/memories/{memory_id}",
    status_code=204,
    response_class=Response,
    tags=["memories"],
    responses=UNKNOWN,
)
def delete(memory_id: MemoryId, user_id: AnyWriter, memory: Opened, reason: Why = "") -> None:
    """Take a memory out of every answer, for good."""
    memory.delete(memory_id, user_id=user_id, reason=reason)


@reads.get("/memories/{memory_id}/history", tags=["memories"], responses=UNKNOWN)
def history(memory_id: MemoryId, user_id: AnyReader, memory: Opened) -> History:
    """Every state a memory has been in, a deleted one's too."""
    return History(items=memory.history(memory_id, user_id=user_id))


@reads.get("/memories/{memory_id}/explanation", tags=["memories"], responses=UNKNOWN)
def explain(memory_id: MemoryId, user_id: AnyReader, memory: Opened) -> Explanation:
    """How firmly a memory still stands, and what took whose place."""
    return memory.explain(memory_id, user_id=user_id)


@writes.post("/memories/{memory_id}/restore", tags=["memories"], responses=UNKNOWN)
def restore(memory_id: MemoryId, body: Restoration, user_id: AnyWriter, memory: Opened) -> Fact:
    """Believe a memory again that was superseded, archived or quarantined."""
    return memory.restore(memory_id, user_id=user_id, reason=body.reason)


@writes.post("/forget", tags=["memories"])
def forget(body: Forgetting, caller: CurrentCaller, memory: Opened) -> Forgotten:
    """Forget a topic, a time, a session or, with `everything`, a user, for good."""
    caller.require(Right.WRITE, body.user_id)
    number = memory.forget(
        user_id=body.user_id,
        tag=body.tag,
        since=body.since,
        until=body.until,
        session_id=body.session_id,
        reason=body.reason,
    )
    return Forgotten(forgotten=number)


@reads.get("/profile", tags=["profile"])
def profile(
    user_id: Reader,
    memory: Opened,
    as_of: Annotated[Timestamp | None, Query(description="What stood at this time.")] = None,
) -> Overview:
    """A user at a glance: who they are, and what happened, the more briefly the longer ago."""
    return memory.profile(user_id=user_id, as_of=as_of)


@writes.patch("/profile", tags=["profile"])
def update_profile(body: ProfileChanges, user_id: Writer, memory: Opened) -> Overview:
    """Write fields of a profile by hand; they stay until they are written again."""
    return memory.update_profile(body.given(), user_id=user_id)


@reads.get("/profile/history", tags=["profile"])
def profile_history(
    user_id: Reader,
    memory: Opened,
    field: Annotated[ProfileField, Query(description="A field of the profile.")],
) -> Lines:
    """Everything that a field of a profile has said, in order."""
    return Lines(items=memory.profile_history(field, user_id=user_id))


@reads.get("/layout", tags=["memories"])
def layout(
    user_id: Reader,
    memory: Opened,
    limit: Annotated[int, Query(ge=1, le=MOST_POINTS, description="The newest so many.")] = 2_000,
) -> Layout:
    """A user's memories in two dimensions: what is near in meaning lies near."""
    return memory.layout(user_id=user_id, limit=limit)


@reads.get("/sessions", tags=["conversations"])
def sessions(user_id: Reader, memory: Opened) -> Sessions:
    """A user's sessions, the one with the latest message first."""
    return Sessions(items=memory.sessions(user_id=user_id))


@writes.patch("/sessions", tags=["conversations"])
def configure_session(
    body: SessionChanges, caller: CurrentCaller, memory: Opened
) -> SessionOptions:
    """Do otherwise with a session than with others, from now on: not read it, or pin its facts."""
    caller.require(Right.WRITE, body.user_id)
    return memory.configure_session(
        user_id=body.user_id, session_id=body.session_id, extract=body.extract, fades=body.fades
    )


@reads.get("/messages", tags=["conversations"], responses=UNKNOWN)
def messages(user_id: Reader, session_id: SessionId, memory: Opened) -> Messages:
    """What was said in a session, in order."""
    return Messages(items=memory.messages(user_id=user_id, session_id=session_id))


@reads.post("/search", tags=["recall"], responses=documented(502))
def search(body: SearchQuestion, caller: CurrentCaller, memory: Opened) -> Hits:
    """The best memories for a query, each with why it ranked there."""
    caller.require(Right.READ, body.user_id)
    hits = memory.search(body.query, user_id=body.user_id, k=body.k, filters=body.filters)
    return Hits(items=hits)


@reads.post("/context", tags=["recall"], responses=documented(502))
def context(body: ContextQuestion, caller: CurrentCaller, memory: Opened) -> Context:
    """A block for a prompt, never over its budget of tokens."""
    caller.require(Right.READ, body.user_id)
    return memory.context(
        body.query, user_id=body.user_id, budget=body.budget, filters=body.filters
    )
