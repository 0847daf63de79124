"""Routes of `memory.transfer`: export and import, as JSON lines or as one document; add many."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Annotated, Any, Literal

from anyio import from_thread
from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.query_text import LONGEST_QUERY
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import Identifier
from semantic_memory.entrypoints.agent_limits import seen
from semantic_memory.entrypoints.api.access import CurrentCaller, UserId, Writer
from semantic_memory.entrypoints.api.bodies import AddManyBody, Facts, Loaded, Written, WrittenItems
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import Opened, reading, writing
from semantic_memory.entrypoints.rights import Right

MEDIA_TYPE = "application/x-ndjson"
DOCUMENT = "application/json"
_BODIES = {
    "content": {
        MEDIA_TYPE: {"schema": {"type": "string"}},
        DOCUMENT: {"schema": {"type": "object"}},
    }
}
_BATCH = 100

router = reading("/v1/transfer", "transfer")
writes = writing("/v1/transfer", "transfer")


class JsonLines(StreamingResponse):
    """Records as JSON, one a line."""

    media_type = MEDIA_TYPE


@writes.post("/add-many", status_code=201)
def add_many(body: AddManyBody, caller: CurrentCaller, memory: Opened) -> Facts | WrittenItems:
    """Add facts, all or none; return the memory that says each, in order."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    for item in body.items:
        caller.agent(item.agent_id)
    items = [item.model_dump(exclude_unset=True) for item in body.items]
    agent_id = caller.agent(body.agent_id)
    facts = memory.transfer.add_many(
        items, user_id=body.user_id, agent_id=agent_id, run_id=body.run_id
    )
    if caller.reads(body.user_id):
        return Facts(items=facts)
    return WrittenItems(items=[Written(id=fact.id) for fact in facts])


@router.get("/export", response_class=JsonLines, responses={200: _BODIES})
def export(
    user_id: UserId,
    caller: CurrentCaller,
    memory: Opened,
    session_id: Annotated[Identifier | None, Query(description=fields.OF_SESSION)] = None,
    agent_id: Annotated[Identifier | None, Query(description=fields.OF_AGENT)] = None,
    run_id: Annotated[Identifier | None, Query(description=fields.OF_RUN)] = None,
    form: Annotated[
        Literal["jsonl", "json"], Query(alias="format", description=fields.EXPORT_FORMAT)
    ] = "jsonl",
    q: Annotated[str, Query(max_length=LONGEST_QUERY, description=fields.WHERE)] = "",
) -> Response:
    """Export a user's memory, or what meets a query, in a form that `/v1/transfer/import` reads.

    One document holds everything of a user or a session; a query gives JSON lines only.
    """
    caller.require(Right.READ, user_id, scoped=True)
    if form == "json":
        if q:
            raise InvalidInputError("export: a query gives JSON lines only: leave format out")
        document = memory.transfer.to_dict(
            user_id=user_id,
            session_id=session_id,
            agent_id=caller.agent(agent_id),
            run_id=run_id,
        )
        return JSONResponse(document)
    filters = Filters.joined(q or None, Scope(agent_id, run_id).own)
    records = memory.transfer.export(
        user_id=user_id, session_id=session_id, filters=seen(caller, filters)
    )
    lines = _written(records)
    # The first line is made now, so that an error can still set the status.
    return JsonLines(chain([next(lines, b"")], lines))


@router.post(
    "/import",
    responses=documented(415),
    response_model_exclude_defaults=True,
    openapi_extra={"requestBody": {"required": True, **_BODIES}},
)
async def import_(request: Request, user_id: Writer, memory: Opened) -> Loaded:
    """Import JSON lines, of any number, or one document, as memories of this user.

    Ids are kept where they are free. Sending them again adds nothing. A line that can't be used
    ends it; those before it are kept.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type not in (MEDIA_TYPE, DOCUMENT):
        raise HTTPException(
            415,
            f"send JSON lines, as Content-Type: {MEDIA_TYPE}, or one document, as {DOCUMENT}",
        )
    most = request.app.state.settings.body_bytes
    if media_type == DOCUMENT:
        document = _parsed(await _whole(request.stream(), most), "the document")
        found = await run_in_threadpool(memory.transfer.from_dict, document, user_id=user_id)
        return Loaded.of(found)
    records = _read(_lines(_chunks(request.stream()), most))
    found = await run_in_threadpool(memory.transfer.load, records, user_id=user_id)
    return Loaded.of(found)


def _written(records: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    while batch := [*islice(records, _BATCH)]:
        yield "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in batch).encode()


async def _whole(stream: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > most:
            raise HTTPException(413, f"a document may have {most:,} bytes: send JSON lines")
    return bytes(body)


def _chunks(stream: AsyncIterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks of a body to a thread; the sender waits while one is worked on."""

    async def next_chunk() -> bytes | None:
        return await anext(stream, None)

    while (chunk := from_thread.run(next_chunk)) is not None:
        yield chunk


def _lines(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *complete, rest = (rest + chunk).split(b"\n")
        for line in (*complete, rest):
            if len(line) > most:
                raise HTTPException(413, f"a line may have {most:,} bytes")
        yield from complete
    yield rest


def _read(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _parsed(line, f"line {number}")


def _parsed(text: bytes, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{what}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what}: not a JSON object")
    return found
