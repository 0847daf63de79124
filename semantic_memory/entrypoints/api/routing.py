"""The header with a request's user, by which a proxy can send a user to one worker.

A worker has the memories of its latest users in RAM, so that they are best spread by users.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Request
from starlette.exceptions import HTTPException

from semantic_memory.domain.values import Identifier

HEADER = "X-Memory-User"

MemoryUser = Annotated[
    Identifier | None,
    # Not in the document of the routes: a request is complete without it.
    Header(alias=HEADER, include_in_schema=False),
]


async def same_user(request: Request, x_memory_user: MemoryUser = None) -> None:
    """Answer 400 if the header names another user than the query or the body does."""
    if x_memory_user is None:
        return
    named = request.query_params.get("user_id")
    if named is None and request.headers.get("content-type", "").startswith("application/json"):
        body = await request.json()  # which has been read and parsed, for the route
        named = body.get("user_id") if isinstance(body, dict) else None
    if named not in (None, x_memory_user):
        raise HTTPException(400, f"{HEADER} is {x_memory_user!r}, the request's user is {named!r}")
