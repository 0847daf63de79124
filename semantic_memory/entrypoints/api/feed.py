"""The route of `memory.events`: a page as JSON, or an endless stream of server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

from fastapi import Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.responses import JSONResponse, Response

from semantic_memory.domain import fields
from semantic_memory.domain.errors import EventsRemovedError
from semantic_memory.domain.feed import NOW, MemoryEvent
from semantic_memory.domain.requests.feed import FeedQuery
from semantic_memory.entrypoints.api.access import CurrentCaller, Doorkeeper
from semantic_memory.entrypoints.api.bodies import Events
from semantic_memory.entrypoints.api.routes import Opened, reading
from semantic_memory.entrypoints.callers import Caller, Right
from semantic_memory.groups.subscription import AsyncSubscription

STREAM = EventSourceResponse.media_type
HEARTBEAT_SECONDS = 15.0
"""Pause after which a stream without events says that it is alive: proxies end silent ones."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

router = reading("/v1", "events")


class Streams:
    """The streams that are open, so that the service can end them before it waits for requests."""

    def __init__(self) -> None:
        self._open: set[AsyncSubscription] = set()
        self._ended = False

    @contextmanager
    def one(self, feed: AsyncSubscription) -> Iterator[None]:
        """Count a stream while the context lasts, and close it then."""
        if self._ended:
            feed.close()
        self._open.add(feed)
        try:
            yield
        finally:
            self._open.discard(feed)
            feed.close()

    def __len__(self) -> int:
        return len(self._open)

    def end(self) -> None:
        """Close every stream, and refuse further ones."""
        self._ended = True
        for feed in self._open:
            feed.close()


@router.get(
    "/events",
    response_model=Events,
    responses={200: {"content": {STREAM: {"schema": {"type": "string"}}}}},
)
async def list_(
    request: Request,
    asked: Annotated[FeedQuery, Query()],
    caller: CurrentCaller,
    memory: Opened,
    last_event_id: Annotated[
        str, Header(pattern=r"^[0-9]{0,18}$", description=fields.LAST_EVENT)
    ] = "",
) -> Response:
    """List what changed in the memory, in its order, or follow it as it changes.

    With `Accept: text/event-stream` it is a stream of server-sent events, by default of those to
    come, which `Last-Event-ID` resumes. Without a user, a key sees the events of its users.
    """
    caller.require(Right.READ, asked.user_id)
    user_id = asked.user_id or caller.only_user
    if STREAM not in request.headers.get("accept", ""):
        after = 0 if asked.after is None else asked.after
        page = await run_in_threadpool(
            memory.events.list, after=after, user_id=user_id, kinds=asked.kinds, limit=asked.limit
        )
        body = Events(items=_covered(page, caller), next=page.next)
        return JSONResponse(body.model_dump(mode="json", exclude_defaults=True))
    start = NOW if asked.after is None else asked.after
    if last_event_id:
        start = int(last_event_id)
    feed = AsyncSubscription(
        await run_in_threadpool(
            memory.events.subscribe, after=start, user_id=user_id, kinds=asked.kinds
        )
    )
    return EventSourceResponse(_streamed(request, feed), headers=_HEADERS)


async def _streamed(request: Request, feed: AsyncSubscription) -> AsyncIterator[bytes]:
    """Yield the events that the caller may see, until the key is revoked or the service ends."""
    streams: Streams = request.app.state.streams
    # A stream that fell so far behind is refused with the place to resume when it connects again.
    with streams.one(feed), suppress(EventsRemovedError):
        yield heartbeat(feed.after)
        while (page := await feed.page(HEARTBEAT_SECONDS)) is not None:
            caller = await _present_caller(request)
            if caller is None:
                return
            covered = _covered(page, caller)
            for event in covered:
                yield _frame(event)
            if not covered:
                yield heartbeat(feed.after)


async def _present_caller(request: Request) -> Caller | None:
    """Identify the sender again: the key may have been revoked while the stream waited."""
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    return await doorkeeper.caller(request.headers.get("authorization"))


def _covered(events: Iterable[MemoryEvent], caller: Caller) -> list[MemoryEvent]:
    return [event for event in events if caller.covers(event.user_id)]


def heartbeat(after: int) -> bytes:
    """Return a sign of life that no reader takes for an event, with the place to resume from."""
    return format_sse_event(comment="", id=str(after))


def _frame(event: MemoryEvent) -> bytes:
    # In ASCII: some readers end a line at U+2028 or U+0085 too.
    written = json.dumps(event.model_dump(mode="json", exclude_defaults=True))
    return format_sse_event(data_str=written, event=event.kind.value, id=str(event.id))
