"""Routes of `memory.sessions`."""

from __future__ import annotations

from typing import Annotated

from fastapi import HTTPException, Query

from semantic_memory.domain import fields
from semantic_memory.domain.messages import Message, SessionInfo, SessionOptions
from semantic_memory.domain.once import already_done
from semantic_memory.domain.requests import (
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    LoadSessionRequest,
    PopRequest,
    SessionsRequest,
)
from semantic_memory.domain.values import Identifier
from semantic_memory.entrypoints.api.access import CurrentCaller, UserId
from semantic_memory.entrypoints.api.bodies import Messages, Sessions, Written
from semantic_memory.entrypoints.api.replies import WITHDRAWN
from semantic_memory.entrypoints.api.routes import UNKNOWN, Opened, reading, writing
from semantic_memory.entrypoints.callers import Caller, Right

reads = reading("/v1/sessions", "sessions")
writes = writing("/v1/sessions", "sessions")

SessionId = Annotated[Identifier, Query(description=fields.SESSION)]


def _session(info: SessionInfo, caller: Caller, user_id: str) -> SessionInfo | Written:
    return info if caller.reads(user_id) else Written(id=info.session_id)


@reads.get("")
def list_(
    asked: Annotated[SessionsRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Sessions:
    """List a user's sessions, the one with the latest message first."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    agent_id = caller.agent(asked.agent_id)
    return Sessions(items=memory.sessions.list(user_id=asked.user_id, agent_id=agent_id))


@writes.post("", status_code=201)
def create(
    body: CreateSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionInfo | Written:
    """Create a session without messages, with options of its own."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.sessions.create(**given), caller, body.user_id)


@writes.post("/load", responses=UNKNOWN)
def load(body: LoadSessionRequest, caller: CurrentCaller, memory: Opened) -> SessionInfo | Written:
    """Return a session, which takes messages again if it was closed."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.sessions.load(**given), caller, body.user_id)


@writes.post("/close", responses=UNKNOWN)
def close(
    body: CloseSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionInfo | Written:
    """Close a session: extract its facts, and refuse further messages until it is loaded."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    return _session(memory.sessions.close(**given), caller, body.user_id)


@writes.patch("", responses=UNKNOWN)
def configure(
    body: ConfigureSessionRequest, caller: CurrentCaller, memory: Opened
) -> SessionOptions | Written:
    """Override the options of a session from now on; an option that isn't given stays."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    options = memory.sessions.configure(**given)
    return options if caller.reads(body.user_id) else Written(id=body.session_id)


@reads.get("/messages", responses=UNKNOWN)
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
    found = memory.sessions.messages(
        user_id=user_id,
        session_id=session_id,
        agent_id=caller.agent(agent_id),
        limit=limit,
        newest=newest,
    )
    return Messages(items=found)


@writes.post("/pop", responses=UNKNOWN)
def pop(body: PopRequest, caller: CurrentCaller, memory: Opened) -> Message | Written:
    """Take back the latest message of a session, with the facts that nothing else supports."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    given = body.given() | {"agent_id": caller.agent(body.agent_id)}
    if already_done():  # a second time would remove another message
        raise HTTPException(WITHDRAWN, "this write was done; its answer was lost with its worker")
    found = memory.sessions.pop(**given)
    return found if caller.reads(body.user_id) else Written(id=found.id)
