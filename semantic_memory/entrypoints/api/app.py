"""The application: routes, and what surrounds them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio
from anyio import to_thread
from fastapi import FastAPI
from fastapi.routing import APIRoute
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CollectorRegistry
from starlette.middleware.cors import CORSMiddleware

from semantic_memory.concurrency import SystemClock
from semantic_memory.domain.errors import ProviderError, StoreClosedError
from semantic_memory.entrypoints.api import problems, routes, transfer, upkeep
from semantic_memory.entrypoints.api.access import Access, Doorkeeper
from semantic_memory.entrypoints.api.idempotency import Replies
from semantic_memory.entrypoints.api.middleware import BodyLimits, Requests
from semantic_memory.entrypoints.dashboard import routes as dashboard
from semantic_memory.entrypoints.dashboard.files import PATH, DashboardFiles
from semantic_memory.entrypoints.dashboard.samples import Sampler
from semantic_memory.entrypoints.keys import Caller
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.entrypoints.metrics import RequestMetrics, StoreFigures
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import ServiceSettings

_logger = logging.getLogger("semantic_memory.service")


def create_app(
    memory: SemanticMemory,
    settings: ServiceSettings,
    doorkeeper: Doorkeeper,
    replies: Replies,
    registry: CollectorRegistry,
) -> FastAPI:
    """The service over an open memory, which it drains but doesn't close at its end."""
    agents = build_server(memory, _caller)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = settings.threads
        async with agents.session_manager.run(), anyio.create_task_group() as background:
            background.start_soon(app.state.sampler.run)
            yield
            background.cancel_scope.cancel()
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
    app.state.registry = registry
    app.state.store_registry = store = CollectorRegistry()
    StoreFigures(store, memory.stats)
    app.state.sampler = Sampler(registry, store, SystemClock())
    problems.install(app)
    for router in (
        routes.writes,
        routes.reads,
        transfer.router,
        upkeep.router,
        upkeep.scraped,
        upkeep.health,
        dashboard.router,
        dashboard.entrance,
    ):
        app.include_router(router)
    app.mount(PATH, DashboardFiles(), name="dashboard")
    # Each request stands alone, so that no session outlives its key.
    over_http = agents.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.extend(over_http.routes)

    # The last one added is the outermost.
    app.add_middleware(
        BodyLimits, most_bytes=settings.body_bytes, most_seconds=settings.body_seconds
    )
    app.add_middleware(
        Access, doorkeeper=doorkeeper, requests_per_minute=settings.requests_per_minute
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After"],
        )
    app.add_middleware(Requests, metrics=RequestMetrics(registry))
    return app


def _caller(context: Context[Any, Any]) -> Caller:
    request = context.request_context.request
    caller: Caller = request.state.caller  # type: ignore[union-attr]  # over HTTP there is one
    return caller


async def _drain(memory: SemanticMemory, seconds: float) -> None:
    """Extract and index what was taken in, for a while; the next start takes up the rest."""
    with anyio.move_on_after(seconds) as scope:
        try:
            await to_thread.run_sync(memory.flush, abandon_on_cancel=True)
        except (ProviderError, StoreClosedError) as error:
            _logger.warning("not everything could be done before the end: %s", error)
    if scope.cancelled_caught:
        _logger.warning("not everything was done in %g s; the next start takes it up", seconds)


def _operation_id(route: APIRoute) -> str:
    return route.name.rstrip("_")
