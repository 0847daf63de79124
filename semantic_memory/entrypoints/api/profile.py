"""Routes of `memory.profile`."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from semantic_memory.domain import fields
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.profile import Overview, ProfileField
from semantic_memory.domain.requests import ProfileRequest, ProfileTexts
from semantic_memory.domain.values import Identifier
from semantic_memory.entrypoints.api.access import CurrentCaller, Reader, Writer
from semantic_memory.entrypoints.api.bodies import Lines, Tags, Written
from semantic_memory.entrypoints.api.routes import UNKNOWN, Opened, reading, writing
from semantic_memory.entrypoints.callers import Right

reads = reading("/v1/profile", "profile")
writes = writing("/v1/profile", "profile")

Points = Annotated[
    int,
    Query(ge=fields.POINTS.least, le=fields.POINTS.most, description=fields.POINTS.description),
]


@reads.get("")
def get(
    asked: Annotated[ProfileRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Overview:
    """Return a user's profile and history."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    return memory.profile.get(**asked.given() | {"agent_id": caller.agent(asked.agent_id)})


@writes.patch("")
def update(
    body: ProfileTexts, user_id: Writer, caller: CurrentCaller, memory: Opened
) -> Overview | Written:
    """Write fields of a profile by hand; they stay until they are written again."""
    found = memory.profile.update(body.given(), user_id=user_id)
    return found if caller.reads(user_id) else Written(id=user_id)


@reads.get("/history")
def history(
    user_id: Reader,
    memory: Opened,
    field: Annotated[ProfileField, Query(description=fields.PROFILE_FIELD)],
) -> Lines:
    """List the texts that a field of a profile has had, in order."""
    return Lines(items=memory.profile.history(field, user_id=user_id))


@reads.get("/tags")
def tags(user_id: Reader, memory: Opened) -> Tags:
    """List a user's tags, by name, each with the number of memories that have it."""
    return Tags(items=memory.profile.tags(user_id=user_id))


@reads.get("/layout", responses=UNKNOWN)
def layout(
    user_id: Reader,
    memory: Opened,
    limit: Points = fields.POINTS.default,
    behind: Annotated[Identifier | None, Query(description=fields.BEHIND)] = None,
) -> Layout:
    """Lay a user's memories out in two dimensions: what is near in meaning lies near."""
    return memory.profile.layout(user_id=user_id, limit=limit, behind=behind)
