"""Routes for memories: each checks the caller's rights and returns one call of the facade."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Explanation, Fact
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import Message, Receipt, SessionInfo, SessionOptions
from semantic_memory.domain.once import already_done
from semantic_memory.domain.profile import Overview, ProfileField
from semantic_memory.domain.recall import Context
from semantic_memory.domain.reports import Verified
from semantic_memory.domain.requests import (
    AddRequest,
    AuditRequest,
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    ForgetRequest,
    ListQuery,
    LoadSessionRequest,
    PopRequest,
    ProfileRequest,
    ProfileTexts,
    Reasoned,
    Revision,
    SearchRequest,
    SessionsRequest,
    SettleRequest,
    VerifyRequest,
)
from semantic_memory.domain.values import Identifier, derived_id
from semantic_memory.entrypoints.agent_limits import owned, seen, shown
from semantic_memory.entrypoints.api.access import (
    AnyReader,
    AnyWriter,
    CurrentCaller,
    Reader,
    UserId,
    Writer,
    documents_key,
)
from semantic_memory.entrypoints.api.bodies import (
    AddManyBody,
    ContextBody,
    Facts,
    Forgotten,
    History,
    Hits,
    Lines,
    Messages,
    ObserveBody,
    Page,
    Prompts,
    Requests,
    Sessions,
    Tags,
    Written,
    WrittenItems,
)
from semantic_memory.entrypoints.api.idempotency import (
    IdempotencyKey,
    Once,
    accepts_idempotency_key,
)
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.replies import WITHDRAWN
from semantic_memory.entrypoints.callers import Caller, Right
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
    """Return the memory that is served."""
    memory: SemanticMemory = request.app.state.memory
    return memory


Opened = Annotated[SemanticMemory, Depends(opened)]
MemoryId = Annotated[Identifier, Path(description=fields.MEMORY)]
SessionId = Annotated[Identifier, Query(description=fields.SESSION)]
Points = Annotated[
    int,
    Query(ge=fields.POINTS.least, le=fields.POINTS.most, description=fields.POINTS.description),
]
Why = Annotated[str, Query(max_length=fields.MOST_REASON, description=fields.REASON)]


def _session(info: SessionInfo, caller: Caller, user_id: str) -> SessionInfo | Written:
    return info if caller.reads(user_id) else Written(id=info.session_id)


def _require_owned(
    memory_id: str, user_id: str | None, caller: Caller, memory: SemanticMemory
) -> None:
    """Refuse a caller that is limited to an agent what isn't the agent's own."""
    if caller.agent_id is not None:
        owned(caller, memory.history(memory_id, user_id=user_id)[-1].fact)


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


@writes.post("/memories/batch", status_code=201, tags=["memories"])
def add_many(body: AddManyBody, caller: CurrentCaller, memory: Opened) -> Facts | WrittenItems:
    """Add facts, all or none; return the memory that says each, in order."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    for item in body.items:
        caller.agent(item.agent_id)
    items = [item.model_dump(exclude_unset=True) for item in body.items]
    agent_id = caller.agent(body.agent_id)
    facts = memory.add_many(items, user_id=body.user_id, agent_id=agent_id, run_id=body.run_id)
    if caller.reads(body.user_id):
        return Facts(items=facts)
    return WrittenItems(items=[Written(id=fact.id) for fact in facts])


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
    _require_owned(memory_id, user_id, caller, memory)
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
    """Delete a memory for good, with what it was drawn from or what rests on it."""
    _require_owned(memory_id, user_id, caller, memory)
    memory.delete(memory_id, user_id=user_id, keep_source=keep_source, reason=reason)


@reads.get("/memories/{memory_id}/history", tags=["memories"], responses=UNKNOWN)
def history(
    memory_id: MemoryId, user_id: AnyReader, caller: CurrentCaller, memory: Opened
) -> History:
    """List the states of a memory, oldest first, also of a deleted one."""
    found = memory.history(memory_id, user_id=user_id)
    shown(caller, found[-1].fact)
    return History(items=found)


@reads.get("/memories/{memory_id}/explanation", tags=["memories"], responses=UNKNOWN)
def explain(
    memory_id: MemoryId, user_id: AnyReader, caller: CurrentCaller, memory: Opened
) -> Explanation:
    """Return a memory with its retention and the memories it replaced or that replaced it."""
    found = memory.explain(memory_id, user_id=user_id)
    shown(caller, found.fact)
    return found


@writes.post("/memories/{memory_id}/restore", tags=["memories"], responses=UNKNOWN)
def restore(
    memory_id: MemoryId,
    body: Reasoned,
    user_id: AnyWriter,
    caller: CurrentCaller,
    memory: Opened,
) -> Fact | Written:
    """Restore a memory that was superseded, archived or quarantined."""
    _require_owned(memory_id, user_id, caller, memory)
    fact = memory.restore(memory_id, user_id=user_id, reason=body.reason)
    return fact if caller.reads(user_id) else Written(id=fact.id)


@writes.post("/forget", tags=["memories"])
def forget(body: ForgetRequest, caller: CurrentCaller, memory: Opened) -> Forgotten:
    """Forget a topic, a time, a session, what meets filters or, with `everything`, a user.

    For good. A dry run shows what would be forgotten, which needs the right to read; a proof, which
    searches the files of the store, needs that to administer.
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


@reads.post("/receipts/verify", tags=["memories"])
def verify_receipt(body: VerifyRequest, caller: CurrentCaller, memory: Opened) -> Verified:
    """Verify a receipt of forgetting: whether it is genuine, and what is back."""
    caller.require(Right.ADMIN, body.receipt.user_id)
    return memory.verify_receipt(body.receipt)


@reads.get("/requests", tags=["memories"])
def requests(user_id: Reader, memory: Opened) -> Requests:
    """List a user's requests to forget, said in conversations, the latest first."""
    return Requests(items=memory.requests(user_id=user_id))


@writes.post("/requests/settle", tags=["memories"], responses=UNKNOWN)
def settle_request(
    body: SettleRequest, caller: CurrentCaller, memory: Opened
) -> RequestToForget | Written:
    """Settle a request to forget: forget what it names, say that it is done, or decline."""
    caller.require(Right.WRITE, body.user_id)
    found = memory.settle_request(body.request_id, user_id=body.user_id, answer=body.answer)
    return found if caller.reads(body.user_id) else Written(id=found.id)


@reads.get("/profile", tags=["profile"])
def profile(
    asked: Annotated[ProfileRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Overview:
    """Return a user's profile and history."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    return memory.profile(**asked.given() | {"agent_id": caller.agent(asked.agent_id)})


@writes.patch("/profile", tags=["profile"])
def update_profile(
    body: ProfileTexts, user_id: Writer, caller: CurrentCaller, memory: Opened
) -> Overview | Written:
    """Write fields of a profile by hand; they stay until they are written again."""
    found = memory.update_profile(body.given(), user_id=user_id)
    return found if caller.reads(user_id) else Written(id=user_id)


@reads.get("/profile/history", tags=["profile"])
def profile_history(
    user_id: Reader,
    memory: Opened,
    field: Annotated[ProfileField, Query(description=fields.PROFILE_FIELD)],
) -> Lines:
    """List the texts that a field of a profile has had, in order."""
    return Lines(items=memory.profile_history(field, user_id=user_id))


@reads.get("/layout", tags=["memories"])
def layout(user_id: Reader, memory: Opened, limit: Points = fields.POINTS.default) -> Layout:
    """Lay a user's memories out in two dimensions: what is near in meaning lies near."""
    return memory.layout(user_id=user_id, limit=limit)


@reads.get("/tags", tags=["memories"])
def tags(user_id: Reader, memory: Opened) -> Tags:
    """List a user's tags, by name, each with the number of memories that have it."""
    return Tags(items=memory.tags(user_id=user_id))


@reads.get("/sessions", tags=["conversations"])
def sessions(
    asked: Annotated[SessionsRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Sessions:
    """List a user's sessions, the one with the latest message first."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    agent_id = caller.agent(asked.agent_id)
    return Sessions(items=memory.sessions(user_id=asked.user_id, agent_id=agent_id))


@writes.post("/sessions", status_code=201, tags=["conversations"])
def create_session(
    body: CreateSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionInfo | Written:
    """Create a session without messages, with options of its own."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.create_session(**given), caller, body.user_id)


@writes.post("/sessions/load", tags=["conversations"], responses=UNKNOWN)
def load_session(
    body: LoadSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionInfo | Written:
    """Return a session, which takes messages again if it was closed."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.load_session(**given), caller, body.user_id)


@writes.post("/sessions/close", tags=["conversations"], responses=UNKNOWN)
def close_session(
    body: CloseSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionInfo | Written:
    """Close a session: extract its facts, and refuse further messages until it is loaded."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.close_session(**given), caller, body.user_id)


@writes.patch("/sessions", tags=["conversations"], responses=UNKNOWN)
def configure_session(
    body: ConfigureSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionOptions | Written:
    """Override the options of a session from now on; an option that isn't given stays."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    options = memory.configure_session(**given)
    return options if caller.reads(body.user_id) else Written(id=body.session_id)


@reads.get("/messages", tags=["conversations"], responses=UNKNOWN)
def messages(
    user_id: UserId,
    session_id: SessionId,
    caller: CurrentCaller,
    memory: Opened,
    agent_id: Annotated[Identifier | None, Query(description=fields.AS_AGENT)] = None,
    limit: Annotated[int | None, Query(ge=1, description=fields.MESSAGES_LIMIT)] = None,
    newest: Annotated[bool, Query(description=fields.NEWEST)] = False,
) -> Messages:
    """List a session's messages in the order in which they were said, or the latest first."""
    caller.require(Right.READ, user_id, scoped=True)
    found = memory.messages(
        user_id=user_id,
        session_id=session_id,
        agent_id=caller.agent(agent_id),
        limit=limit,
        newest=newest,
    )
    return Messages(items=found)


@writes.post("/messages/pop", tags=["conversations"], responses=UNKNOWN)
def pop(body: PopRequest, caller: CurrentCaller, memory: Opened) -> Message | Written:
    """Take back the latest message of a session, with the facts that nothing else says."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    if already_done():  # again, it would take another message
        raise HTTPException(WITHDRAWN, "this write was done; its answer was lost with its worker")
    found = memory.pop(**given)
    return found if caller.reads(body.user_id) else Written(id=found.id)


@reads.get("/audit", tags=["recall"])
def audit(
    asked: Annotated[AuditRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Prompts:
    """List which memories entered a user's prompts, when and why, the latest block first."""
    caller.require(Right.READ, asked.user_id)
    return Prompts(items=memory.audit(**asked.given()))


@reads.post("/search", tags=["recall"], responses=documented(502))
def search(body: SearchRequest, caller: CurrentCaller, memory: Opened) -> Hits:
    """Find the best memories for a query, each with the parts of its score."""
    caller.require_all(body.owners)
    agent_id = caller.agent(body.agent_id)
    return Hits(items=memory.search(**body.given() | {"agent_id": agent_id}))


@reads.post("/context", tags=["recall"], responses=documented(502))
def context(body: ContextBody, caller: CurrentCaller, memory: Opened) -> Context:
    """Pack a block for a prompt, never over its budget of tokens."""
    caller.require_all(body.owners)
    return memory.context(**body.given() | {"agent_id": caller.agent(body.agent_id)})
