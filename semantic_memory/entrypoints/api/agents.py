"""MCP over HTTP, loaded by its first request: loading it takes a third of the service's start."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import anyio
from anyio import to_thread
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from semantic_memory.entrypoints.api.routing import HEADER
from semantic_memory.entrypoints.callers import Caller
from semantic_memory.entrypoints.rights import TOOLSETS, Toolset

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer

    from semantic_memory.memory import SemanticMemory

AGENT_HEADER = "X-Memory-Agent"


class Agents:
    """ASGI application of MCP over an open memory. It answers while `run` runs.

    `/mcp` has the five tools of every agent, `/mcp?tools=all` the others too.
    """

    def __init__(self, memory: SemanticMemory, most_bytes: int) -> None:
        self._memory = memory
        self._most_bytes = most_bytes
        self._asked = anyio.Event()
        self._ready = anyio.Event()
        self._apps: dict[str, ASGIApp] = {}

    async def run(self) -> None:
        """Build the servers once one is asked for, and keep their sessions until cancelled."""
        await self._asked.wait()
        async with AsyncExitStack() as stack:
            for tools in TOOLSETS:
                server = await to_thread.run_sync(self._build, tools)
                await stack.enter_async_context(server.session_manager.run())
            self._ready.set()
            await anyio.sleep_forever()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._asked.set()
        await self._ready.wait()
        app = self._apps.get(_tools(scope)) or PlainTextResponse(
            f"tools must be {' or '.join(TOOLSETS)}", 400
        )
        await app(scope, receive, send)

    def _build(self, tools: Toolset) -> MCPServer[Any]:
        from mcp.server.transport_security import TransportSecuritySettings

        from semantic_memory.entrypoints.mcp.server import build_server

        server = build_server(
            lambda: self._memory, _caller, tools, self._memory.admin.settings.declared
        )
        # Each request stands alone, so that no session survives its key.
        over_http = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=self._most_bytes,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        (self._apps[tools],) = (route.app for route in over_http.routes if isinstance(route, Route))
        return server


def _tools(scope: Scope) -> str:
    """Return the set of tools that the address asks for."""
    asked: list[str] = parse_qs(scope["query_string"].decode("latin-1")).get("tools", [TOOLSETS[0]])
    return asked[-1]


def _caller(context: Context[Any, Any]) -> Caller:
    """Return the sender of a request, for the user and the agent that its headers name."""
    request = context.request_context.request
    caller: Caller = request.state.caller  # type: ignore[union-attr]  # over HTTP there is one
    headers = request.headers  # type: ignore[union-attr]
    return caller.narrowed(headers.get(HEADER), headers.get(AGENT_HEADER))
