"""Middleware of every request: its id, its line in the log, its metrics, its body's limits."""

from __future__ import annotations

import logging
import secrets
import time

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semantic_memory.domain.patterns import regex
from semantic_memory.entrypoints.api.problems import problem
from semantic_memory.entrypoints.dashboard.files import PATH
from semantic_memory.entrypoints.metrics import RequestMetrics

_logger = logging.getLogger("semantic_memory.requests")
_GIVEN_ID = regex(r"[A-Za-z0-9_.\-]{1,64}")
FIXED_PATHS = frozenset({"/mcp"})
"""Routes that the framework doesn't name."""
STREAMED_PATHS = frozenset({"/v1/transfer/import"})
"""Take bodies of any length, line by line."""


class Requests:
    """ASGI middleware: gives each request an id, then logs and measures it.

    Logged are method, route, status, duration and caller; never a query, a body or a user.
    """

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        status = 500
        start = time.perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            with self._metrics.in_progress():
                await self._app(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - start
            # The path itself only where it is fixed: no user's or stranger's words become a label.
            path = scope["path"]
            fixed = path if path in FIXED_PATHS else "unknown"
            if path == PATH or path.startswith(f"{PATH}/"):
                fixed = PATH
            route = str(getattr(scope.get("route"), "path", fixed))
            self._metrics.observe(scope["method"], route, status, seconds)
            caller = state.get("caller")
            error = state.get("error")
            _logger.log(
                logging.WARNING if status >= 500 else logging.INFO,
                "%s %s %d",
                scope["method"],
                route,
                status,
                extra={
                    "request_id": request_id,
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "milliseconds": round(1_000 * seconds, 2),
                    "caller": None if caller is None else caller.name,
                    "error": None if error is None else type(error).__name__,
                },
            )


class BodyLimits:
    """ASGI middleware: a body that is too large or too slow is refused while it arrives."""

    def __init__(self, app: ASGIApp, most_bytes: int, most_seconds: float) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = None if scope["path"] in STREAMED_PATHS else self._most_bytes
        declared = Headers(scope=scope).get("content-length", "")
        if most is not None and declared.isdecimal() and int(declared) > most:
            refusal = problem(scope, 413, self._too_large(), headers={"Connection": "close"})
            await refusal(scope, receive, send)
            return
        taken = 0
        complete = False

        async def limited() -> Message:
            nonlocal taken, complete
            if complete:  # now it only tells when the client goes away
                return await receive()
            try:
                with anyio.fail_after(self._most_seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(
                    408,
                    f"no more of the body came for {self._most_seconds:g} s",
                    headers={"Connection": "close"},
                ) from None
            taken += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if most is not None and taken > most:
                raise HTTPException(413, self._too_large(), headers={"Connection": "close"})
            return message

        await self._app(scope, limited, send)

    def _too_large(self) -> str:
        return (
            f"a body may have {self._most_bytes:,} bytes: send several, or use /v1/transfer/import"
        )
