"""Idempotency keys: a write that is sent again gets the first one's answer, for a day."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from anyio import CancelScope, to_thread
from fastapi import Header, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from semantic_memory.domain.once import working
from semantic_memory.entrypoints.api.replies import WITHDRAWN, Replies, Reply, Turn
from semantic_memory.entrypoints.callers import Caller

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=128,
        pattern=r"^[\x21-\x7e]+$",
        description="Drawn at random for each write; sent again with it, a write isn't repeated.",
    ),
]


async def accepts_idempotency_key(idempotency_key: IdempotencyKey = None) -> None:
    """Document and check the header for a whole router."""
    del idempotency_key


class Once(APIRoute):
    """A route whose writes honour `Idempotency-Key`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, which looks for an earlier answer first."""
        handle = super().get_route_handler()

        async def handle_once(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key is None:
                return await handle(request)
            replies: Replies = request.app.state.replies
            caller: Caller = request.state.caller
            name = _digest(caller.name, request.method, request.url.path, key)
            sent = await request.body()
            fingerprint = _digest(request.url.query, sent.decode("latin-1"))
            turn = await to_thread.run_sync(replies.begin, name)
            if isinstance(turn, Reply):
                return _again(turn, fingerprint)
            if turn is Turn.TAKEN:
                raise HTTPException(
                    409,
                    "a request with this Idempotency-Key is still being worked on",
                    headers={"Retry-After": "1"},
                )
            try:
                with working(replies.marking(name), done=turn is Turn.AGAIN):
                    response = await handle(request)
                reply = Reply(
                    fingerprint,
                    response.status_code,
                    response.media_type or "",
                    bytes(response.body),
                )
                await to_thread.run_sync(replies.keep, name, reply)
            except BaseException:
                with CancelScope(shield=True):  # of a caller who has gone, too
                    await to_thread.run_sync(replies.end, name)
                raise
            return response

        return handle_once


def _again(reply: Reply, fingerprint: str) -> Response:
    if reply.fingerprint != fingerprint:
        raise HTTPException(
            409, "this Idempotency-Key was used for another request; draw a new one"
        )
    if reply.status == WITHDRAWN:
        raise HTTPException(
            WITHDRAWN,
            "this write was done; its answer held memories of a user who had some forgotten since",
        )
    return Response(
        reply.body or None,
        reply.status,
        headers={"Idempotency-Replayed": "true"},
        media_type=reply.media_type or None,
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
