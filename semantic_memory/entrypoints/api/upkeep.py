"""Routes for operating the service: health, metrics, counts, maintenance."""

from __future__ import annotations

import logging
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.reports import Finding, JobRun, Stats
from semantic_memory.domain.requests import MaintainRequest, RunsRequest
from semantic_memory.entrypoints.api.access import Admin, CurrentCaller, documents_key
from semantic_memory.entrypoints.api.bodies import Indexed, Items, State
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import EVERYWHERE, Opened
from semantic_memory.entrypoints.metrics import gathered
from semantic_memory.entrypoints.rights import Right

_logger = logging.getLogger("semantic_memory.service")
health = APIRouter(tags=["health"])
scraped = APIRouter(tags=["health"], dependencies=[Depends(documents_key)])
router = APIRouter(
    prefix="/v1",
    tags=["upkeep"],
    responses=EVERYWHERE,
    dependencies=[Depends(documents_key)],
)


@health.get("/healthz")
async def healthz(request: Request) -> State:
    """Answer as long as the process runs."""
    return State(status="ok", version=request.app.version)


@health.get("/readyz", responses=documented(503))
async def readyz(request: Request, memory: Opened) -> State:
    """Answer if the store can be read."""
    try:
        await run_in_threadpool(partial(memory.list, user_id="nobody", limit=1))
    except StoreUnavailableError as error:  # its text tells everybody where the store is
        _logger.warning("not ready: %s", error)
        raise StoreUnavailableError("the store can't be read just now: the log says why") from None
    return State(status="ready", version=request.app.version)


@scraped.get("/metrics", response_class=Response, responses=documented(401, 421, 429, 500))
def metrics(request: Request, caller: CurrentCaller) -> Response:
    """Return Prometheus metrics, none of a single user. Any key will do."""
    del caller
    state = request.app.state
    figures = generate_latest(gathered(state.registry)) + generate_latest(state.store_registry)
    return Response(figures, media_type=CONTENT_TYPE_LATEST)


@router.post("/flush", status_code=204, response_class=Response, responses=documented(502))
def flush(caller: CurrentCaller, memory: Opened) -> None:
    """Wait until everything observed is extracted and indexed."""
    caller.require(Right.WRITE, scoped=True)  # it tells nothing
    memory.flush()


@router.get("/stats")
def stats(admin: Admin, memory: Opened) -> Stats:
    """Count the contents of the store."""
    del admin
    return memory.stats()


@router.get("/users")
def users(admin: Admin, memory: Opened) -> Items[str]:
    """List the users with a memory that the key covers."""
    return Items(items=[user_id for user_id in memory.users() if admin.covers(user_id)])


@router.post("/maintenance")
def maintain(body: MaintainRequest, admin: Admin, memory: Opened) -> Items[JobRun]:
    """Run maintenance jobs now. A dry run reports their changes, which needs the right to read."""
    admin.require_user(Right.ADMIN, body.user_id)
    if body.dry_run:  # its report holds texts
        admin.require(Right.READ)
    return Items(items=memory.maintain(**body.given()))


@router.get("/maintenance")
def runs(admin: Admin, memory: Opened, asked: Annotated[RunsRequest, Query()]) -> Items[JobRun]:
    """List the latest runs of maintenance jobs, the latest first."""
    admin.require_user(Right.ADMIN, None)
    return Items(items=memory.runs(asked.limit))


@router.get("/check")
def check(admin: Admin, memory: Opened) -> Items[Finding]:
    """Check the store from end to end, with a remedy for each problem."""
    admin.require_user(Right.ADMIN, None)
    return Items(items=memory.check())


@router.post("/rebuild")
def rebuild(admin: Admin, memory: Opened) -> Indexed:
    """Fill the vector index anew from the ledger, embedding nothing."""
    del admin
    return Indexed(indexed=memory.rebuild())
