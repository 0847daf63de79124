"""The application: routes, and what surrounds them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio
from anyio import to_thread
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from semantic_memory.concurrency import SystemClock
from semantic_memory.domain.errors import ProviderError, StoreError
from semantic_memory.entrypoints.api import (
    feed,
    history,
    items,
    keys,
    problems,
    profile,
    routes,
    sessions,
    transfer,
    upkeep,
)
from semantic_memory.entrypoints.api.access import Access, Doorkeeper, Rates
from semantic_memory.entrypoints.api.agents import Agents
from semantic_memory.entrypoints.api.middleware import BodyLimits, Requests
from semantic_memory.entrypoints.api.replies import Replies
from semantic_memory.entrypoints.api.routing import HEADER, same_user
from semantic_memory.entrypoints.dashboard import inspecting
from semantic_memory.entrypoints.dashboard import routes as dashboard
from semantic_memory.entrypoints.dashboard.files import PATH, DashboardFiles
from semantic_memory.entrypoints.dashboard.samples import Sampler
from semantic_memory.entrypoints.metrics import RequestMetrics, StoreFigures
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import ServiceSettings

_GROUPS = {
    "sessions",
    "profile",
    "history",
    "transfer",
    "events",
    "jobs",
    "admin",
    "items",
    "keys",
}
_logger = logging.getLogger("semantic_memory.service")


def create_app(
    memory: SemanticMemory,
    settings: ServiceSettings,
    doorkeeper: Doorkeeper,
    replies: Replies,
    rates: Rates,
    registry: CollectorRegistry,
) -> FastAPI:
    """The service over an open memory, which it drains but doesn't close at its end."""
    agents = Agents(memory, settings.body_bytes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = settings.threads
        async with anyio.create_task_group() as background:
            background.start_soon(app.state.sampler.run)
            background.start_soon(agents.run)
            yield
            background.cancel_scope.cancel()
        if settings.drain_seconds:
            await _drain(memory, settings.drain_seconds)

    app = FastAPI(
        title="semantic-memory",
        version=version("semantic-memory"),
        description="A memory for AI agents: conversations in, the few facts that help out.",
        lifespan=lifespan,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=_operation_id,
    )
    app.state.memory = memory
    app.state.settings = settings
    app.state.replies = replies
    app.state.doorkeeper = doorkeeper
    app.state.streams = feed.Streams()
    app.state.registry = registry
    app.state.store_registry = store = CollectorRegistry()
    StoreFigures(store, memory.admin.stats)
    app.state.sampler = Sampler(registry, store, SystemClock())
    problems.install(app)
    for router in (
        routes.writes,
        routes.reads,
        sessions.writes,
        sessions.reads,
        profile.writes,
        profile.reads,
        history.writes,
        history.reads,
        transfer.writes,
        transfer.router,
        items.writes,
        items.reads,
        feed.router,
        upkeep.work,
        upkeep.jobs,
        upkeep.admin,
        keys.router,
        inspecting.router,
    ):
        app.include_router(router, dependencies=[Depends(same_user)])
    for router in (
        upkeep.scraped,
        upkeep.health,
        dashboard.router,
        dashboard.entrance,
    ):
        app.include_router(router)
    # The files alone: compressed, an answer could tell how much it has in common with a request.
    app.mount(PATH, GZipMiddleware(DashboardFiles()), name="dashboard")
    app.router.routes.append(Route("/mcp", agents))

    # The last one added is the outermost.
    app.add_middleware(
        BodyLimits, most_bytes=settings.body_bytes, most_seconds=settings.body_seconds
    )
    app.add_middleware(
        Access,
        doorkeeper=doorkeeper,
        rates=rates,
        requests_per_minute=settings.requests_per_minute,
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "Last-Event-ID",
                HEADER,
                "X-Request-ID",
            ],
            expose_headers=["X-Request-ID", "Retry-After"],
        )
    app.add_middleware(Requests, metrics=RequestMetrics(registry))
    return app


async def _drain(memory: SemanticMemory, seconds: float) -> None:
    """Extract and index what was taken in, for a while; the next start takes up the rest."""
    with anyio.move_on_after(seconds) as scope:
        try:
            await to_thread.run_sync(memory.flush, abandon_on_cancel=True)
        except (ProviderError, StoreError) as error:
            _logger.warning("not everything could be done before the end: %s", error)
    if scope.cancelled_caught:
        _logger.warning("not everything was done in %g s; the next start takes it up", seconds)


def _operation_id(route: APIRoute) -> str:
    """Return a verb's name, behind that of its group."""
    return "_".join([*(_GROUPS & {*route.tags}), route.name.rstrip("_")])
