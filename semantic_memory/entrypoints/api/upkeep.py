"""Routes for operating the service: health, metrics, `memory.admin` and `memory.jobs`."""

from __future__ import annotations

import logging
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.reports import Finding, JobRun, Stats, Verified
from semantic_memory.domain.requests import IdsRequest, MaintainRequest, RunsRequest, VerifyRequest
from semantic_memory.entrypoints.api.access import Admin, CurrentCaller, documents_key
from semantic_memory.entrypoints.api.bodies import Indexed, Items, State
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import Opened, reading
from semantic_memory.entrypoints.metrics import gathered
from semantic_memory.entrypoints.rights import Right

_logger = logging.getLogger("semantic_memory.service")
health = APIRouter(tags=["health"])
scraped = APIRouter(tags=["health"], dependencies=[Depends(documents_key)])
admin = reading("/v1/admin", "admin")
jobs = reading("/v1/jobs", "jobs")
work = reading("/v1", "conversations")


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


@work.post("/flush", status_code=204, response_class=Response, responses=documented(502))
def flush(caller: CurrentCaller, memory: Opened) -> None:
    """Wait until everything observed is extracted and indexed."""
    caller.require(Right.WRITE, scoped=True)  # it tells nothing
    memory.flush()


@admin.get("/stats")
def stats(operator: Admin, memory: Opened) -> Stats:
    """Count the contents of the store."""
    del operator
    return memory.admin.stats()


@admin.get("/users")
def users(operator: Admin, memory: Opened) -> Items[str]:
    """List the users with a memory that the key covers."""
    return Items(items=[user_id for user_id in memory.admin.users() if operator.covers(user_id)])


@admin.get("/ids")
def ids(operator: Admin, memory: Opened, asked: Annotated[IdsRequest, Query()]) -> Items[str]:
    """Return the ids of memories that begin with a prefix, at most ten."""
    operator.require_user(Right.ADMIN, asked.user_id)
    return Items(items=memory.admin.ids(asked.prefix, user_id=asked.user_id))


@jobs.post("/run")
def run(body: MaintainRequest, operator: Admin, memory: Opened) -> Items[JobRun]:
    """Run maintenance jobs now. A dry run reports their changes, which needs the right to read."""
    operator.require_user(Right.ADMIN, body.user_id)
    if body.dry_run:  # its report holds texts
        operator.require(Right.READ)
    return Items(items=memory.jobs.run(**body.given()))


@jobs.get("/runs")
def runs(operator: Admin, memory: Opened, asked: Annotated[RunsRequest, Query()]) -> Items[JobRun]:
    """List the latest runs of maintenance jobs, the latest first, with how far one under way is."""
    operator.require_user(Right.ADMIN, None)
    return Items(items=memory.jobs.runs(asked.limit))


@admin.get("/check")
def check(operator: Admin, memory: Opened) -> Items[Finding]:
    """Check the store from end to end, with a remedy for each problem."""
    operator.require_user(Right.ADMIN, None)
    return Items(items=memory.admin.check())


@admin.post("/rebuild")
def rebuild(operator: Admin, memory: Opened) -> Indexed:
    """Fill the vector index again from the ledger, embedding nothing."""
    del operator
    return Indexed(indexed=memory.admin.rebuild())


@admin.post("/verify-receipt")
def verify_receipt(body: VerifyRequest, caller: CurrentCaller, memory: Opened) -> Verified:
    """Verify a receipt of forgetting: whether it is genuine, and what is back."""
    caller.require(Right.ADMIN, body.receipt.user_id)
    return memory.admin.verify_receipt(body.receipt)
