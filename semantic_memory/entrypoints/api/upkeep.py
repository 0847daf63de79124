"""The routes for operating the service: health, metrics, figures, upkeep."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from semantic_memory.domain.reports import Finding, JobRun, Stats
from semantic_memory.domain.values import Value
from semantic_memory.entrypoints.api.access import Admin, CurrentCaller, documents_key
from semantic_memory.entrypoints.api.bodies import Items, State, Upkeep
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import EVERYWHERE, Opened
from semantic_memory.entrypoints.keys import Right

health = APIRouter(tags=["health"])
scraped = APIRouter(tags=["health"], dependencies=[Depends(documents_key)])
router = APIRouter(
    prefix="/v1",
    tags=["upkeep"],
    responses=EVERYWHERE,
    dependencies=[Depends(documents_key)],
)


class Indexed(Value):
    """What a rebuilt index holds."""

    indexed: int


@health.get("/healthz")
async def healthz(request: Request) -> State:
    """The process answers."""
    return State(status="ok", version=request.app.version)


@health.get("/readyz", responses=documented(503))
async def readyz(request: Request, memory: Opened) -> State:
    """The store can be read."""
    await run_in_threadpool(partial(memory.list, user_id="nobody", limit=1))
    return State(status="ready", version=request.app.version)


@scraped.get("/metrics", response_class=Response, responses=documented(401, 421, 429, 500))
def metrics(request: Request, caller: CurrentCaller) -> Response:
    """Prometheus metrics; no figure is a single user's. Any key will do."""
    del caller
    state = request.app.state
    figures = generate_latest(state.registry) + generate_latest(state.store_registry)
    return Response(figures, media_type=CONTENT_TYPE_LATEST)


@router.post("/flush", status_code=204, response_class=Response, responses=documented(502))
def flush(caller: CurrentCaller, memory: Opened) -> None:
    """Wait until everything observed is extracted and indexed."""
    caller.require(Right.WRITE)
    memory.flush()


@router.get("/stats")
def stats(admin: Admin, memory: Opened) -> Stats:
    """What the store holds."""
    del admin
    return memory.stats()


@router.get("/users")
def users(admin: Admin, memory: Opened) -> Items[str]:
    """The users with a memory, as far as the key covers them."""
    return Items(items=[user_id for user_id in memory.users() if admin.covers(user_id)])


@router.post("/maintenance")
def maintain(body: Upkeep, admin: Admin, memory: Opened) -> Items[JobRun]:
    """Run jobs of upkeep now. A dry run tells what they would do, and needs the right to read."""
    admin.require_user(Right.ADMIN, body.user_id)
    if body.dry_run:  # what it says holds texts
        admin.require(Right.READ)
    return Items(items=memory.maintain(body.jobs, user_id=body.user_id, dry_run=body.dry_run))


@router.get("/maintenance")
def runs(
    admin: Admin, memory: Opened, limit: Annotated[int, Query(ge=1, le=1_000)] = 50
) -> Items[JobRun]:
    """What jobs of upkeep did, the latest first."""
    admin.require_user(Right.ADMIN, None)
    return Items(items=memory.runs(limit))


@router.get("/check")
def check(admin: Admin, memory: Opened) -> Items[Finding]:
    """Check everything, and say what to do about what is wrong."""
    admin.require_user(Right.ADMIN, None)
    return Items(items=memory.check())


@router.post("/rebuild")
def rebuild(admin: Admin, memory: Opened) -> Indexed:
    """Fill the vector index anew from the ledger."""
    del admin
    return Indexed(indexed=memory.rebuild())
