"""Routes for the verbs of the memory itself, and what the routes of groups share.

Each checks the caller's rights and returns one call of the facade.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Receipt
from semantic_memory.domain.recall import Context
from semantic_memory.domain.requests import (
    AddRequest,
    ForgetRequest,
    ListQuery,
    Revision,
    SearchRequest,
)
from semantic_memory.domain.values import Identifier, derived_id
from semantic_memory.entrypoints.agent_limits import owned, seen, shown
from semantic_memory.entrypoints.api.access import (
    AnyReader,
    AnyWriter,
    CurrentCaller,
    documents_key,
)
from semantic_memory.entrypoints.api.bodies import (
    ContextBody,
    Forgotten,
    Hits,
    ObserveBody,
    Page,
    Written,
)
from semantic_memory.entrypoints.api.idempotency import (
    IdempotencyKey,
    Once,
    accepts_idempotency_key,
)
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.callers import Caller, Right
from semantic_memory.memory import SemanticMemory

EVERYWHERE = documented(400, 401, 403, 408, 413, 421, 422, 429, 500, 503)
UNKNOWN = documented(404)
CONFLICT = documented(409)


def reading(path: str, *tags: str) -> APIRouter:
    """Return a router of what changes nothing."""
    return APIRouter(
        prefix=path,
        tags=[*tags],
        responses=EVERYWHERE,
        dependencies=[Depends(documents_key)],
    )


def writing(path: str, *tags: str) -> APIRouter:
    """Return a router of writes, each of which happens once for an idempotency key."""
    return APIRouter(
        prefix=path,
        tags=[*tags],
        route_class=Once,
        responses=EVERYWHERE | CONFLICT,
        dependencies=[Depends(documents_key), Depends(accepts_idempotency_key)],
    )


reads = reading("/v1")
writes = writing("/v1")


async def opened(request: Request) -> SemanticMemory:
    """Return the memory that is served."""
    memory: SemanticMemory = request.app.state.memory
    return memory


Opened = Annotated[SemanticMemory, Depends(opened)]
MemoryId = Annotated[Identifier, Path(description=fields.MEMORY)]
Why = Annotated[str, Query(max_length=fields.MOST_REASON, description=fields.REASON)]


def require_owned(
    memory_id: str, user_id: str | None, caller: Caller, memory: SemanticMemory
) -> None:
    """Refuse a caller that is limited to an agent what isn't the agent's own."""
    if caller.agent_id is not None:
        owned(caller, memory.history.versions(memory_id, user_id=user_id)[-1].fact)


@writes.post("/messages", status_code=202, tags=["conversations"])
def observe(
    body: ObserveBody,
    caller: CurrentCaller,
    memory: Opened,
    idempotency_key: IdempotencyKey = None,
) -> Receipt:
    """Take in messages of a conversation; they are on disk when this answers.

    Each is found by its words moments later; facts are extracted once the session is quiet.
    Messages with known ids are skipped.
    """
    caller.require(Right.WRITE, body.user_id, scoped=True)
    for message in body.messages:
        caller.agent(message.agent_id)
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
    return memory.observe(
        said,
        user_id=body.user_id,
        session_id=body.session_id,
        agent_id=caller.agent(body.agent_id),
        run_id=body.run_id,
    )


@writes.post("/memories", status_code=201, tags=["memories"])
def add(body: AddRequest, caller: CurrentCaller, memory: Opened) -> Fact | Written:
    """Add one fact, found by the next search. A known one is confirmed and returned."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    fact = memory.add(**body.given() | {"agent_id": caller.agent(body.agent_id)})
    return fact if caller.reads(body.user_id) else Written(id=fact.id)


@reads.get("/memories", tags=["memories"], responses=UNKNOWN)
def list_(asked: Annotated[ListQuery, Query()], caller: CurrentCaller, memory: Opened) -> Page:
    """List a user's memories a page at a time, newest first unless sorted otherwise."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    found = memory.list(
        user_id=asked.user_id,
        filters=seen(caller, asked.filters()),
        status=asked.status,
        limit=asked.limit,
        after=asked.cursor,
        sort=asked.sort,
    )
    return Page(items=found, next=found.next)


@reads.get("/memories/{memory_id}", tags=["memories"], responses=UNKNOWN)
def get(memory_id: MemoryId, user_id: AnyReader, caller: CurrentCaller, memory: Opened) -> Fact:
    """Return one memory. A memory of another user isn't found."""
    return shown(caller, memory.get(memory_id, user_id=user_id))


@writes.patch("/memories/{memory_id}", tags=["memories"], responses=UNKNOWN)
def update(
    memory_id: MemoryId,
    body: Revision,
    user_id: AnyWriter,
    caller: CurrentCaller,
    memory: Opened,
) -> Fact | Written:
    """Change a memory; the state before stays in its history."""
    require_owned(memory_id, user_id, caller, memory)
    fact = memory.update(memory_id, user_id=user_id, reason=body.reason, **body.changes())
    return fact if caller.reads(user_id) else Written(id=fact.id)


@writes.delete(
    "/memories/{memory_id}",
    status_code=204,
    response_class=Response,
    tags=["memories"],
    responses=UNKNOWN,
)
def delete(
    memory_id: MemoryId,
    user_id: AnyWriter,
    caller: CurrentCaller,
    memory: Opened,
    keep_source: Annotated[bool, Query(description=fields.KEEP_SOURCE)] = False,
    reason: Why = "",
) -> None:
    """Delete a memory permanently, with what it was drawn from or what rests on it."""
    require_owned(memory_id, user_id, caller, memory)
    memory.delete(memory_id, user_id=user_id, keep_source=keep_source, reason=reason)


@writes.post("/forget", tags=["memories"])
def forget(body: ForgetRequest, caller: CurrentCaller, memory: Opened) -> Forgotten:
    """Forget a topic, a time, a session, what meets filters or, with `everything`, a user.

    It can't be undone. A dry run shows what would be forgotten, which needs the right to read; a
    proof, which searches the files of the store, needs that to administer.
    """
    caller.require(Right.WRITE, body.user_id, scoped=True)
    if body.dry_run:
        caller.require(Right.READ, body.user_id, scoped=True)
    if body.proof:
        caller.require(Right.ADMIN, body.user_id)
    found = memory.forget(**body.given() | {"agent_id": caller.agent(body.agent_id)})
    return Forgotten(
        forgotten=int(found),
        memories=[*found.memories],
        sentences=[*found.sentences],
        proof=found.proof,
        items=found.items,
        warning=found.warning,
        kept_in=[*found.kept_in],
    )


@reads.post("/search", response_model=Hits, tags=["recall"], responses=documented(502))
def search(body: SearchRequest, caller: CurrentCaller, memory: Opened) -> Response:
    """Find the best memories for a query, each with the parts of its score."""
    caller.require_all(body.owners)
    agent_id = caller.agent(body.agent_id)
    return _as_json(Hits(items=memory.search(**body.given() | {"agent_id": agent_id})))


@reads.post("/context", response_model=Context, tags=["recall"], responses=documented(502))
def context(body: ContextBody, caller: CurrentCaller, memory: Opened) -> Response:
    """Pack a block for a prompt, never over its budget of tokens."""
    caller.require_all(body.owners)
    agent_id = caller.agent(body.agent_id)
    return _as_json(memory.context(**body.given() | {"agent_id": agent_id}))


def _as_json(answer: BaseModel) -> Response:
    """Return an answer, written in the thread that made it.

    FastAPI would check it again in a second thread, and write it in the event loop.
    """
    return Response(answer.model_dump_json(by_alias=True), media_type="application/json")
