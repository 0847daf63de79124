"""MCP over HTTP, loaded by its first request: loading it takes a third of the service's start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from semantic_memory.entrypoints.callers import Caller

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer

    from semantic_memory.memory import SemanticMemory


class Agents:
    """ASGI application of MCP over an open memory. It answers while `run` runs."""

    def __init__(self, memory: SemanticMemory, most_bytes: int) -> None:
        self._memory = memory
        self._most_bytes = most_bytes
        self._asked = anyio.Event()
        self._ready = anyio.Event()
        self._app: ASGIApp

    async def run(self) -> None:
        """Build the server once it is asked for, and keep its sessions until cancelled."""
        await self._asked.wait()
        server = await to_thread.run_sync(self._build)
        async with server.session_manager.run():
            self._ready.set()
            await anyio.sleep_forever()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._asked.set()
        await self._ready.wait()
        await self._app(scope, receive, send)

    def _build(self) -> MCPServer[Any]:
        from mcp.server.transport_security import TransportSecuritySettings

        from semantic_memory.entrypoints.mcp.server import build_server

        server = build_server(lambda: self._memory, _caller)
        # Each request stands alone, so that no session survives its key.
        over_http = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=self._most_bytes,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        (self._app,) = (route.app for route in over_http.routes if isinstance(route, Route))
        return server


def _caller(context: Context[Any, Any]) -> Caller:
    request = context.request_context.request
    caller: Caller = request.state.caller  # type: ignore[union-attr]  # over HTTP there is one
    return caller
