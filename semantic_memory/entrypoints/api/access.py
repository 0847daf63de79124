"""Authentication, rate limits, and the rights that routes ask for."""

from __future__ import annotations

import ipaddress
import math
import re
import secrets
from collections.abc import Collection
from typing import Annotated, Protocol

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from semantic_memory.domain.actor import acting
from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError
from semantic_memory.domain.values import Identifier
from semantic_memory.entrypoints.api.problems import problem
from semantic_memory.entrypoints.callers import ANYONE, Caller, Right
from semantic_memory.entrypoints.dashboard.files import PATH
from semantic_memory.entrypoints.keys import KeyRing, Keys

OPEN_PATHS = frozenset({"/", "/docs", "/healthz", "/readyz", "/openapi.json", PATH})
"""Answered without a key, as are the dashboard's files; none knows of users."""
_THREADS = 4
"""Threads that wait for keys and rates; those of requests may all be busy."""
_SINGLE = ("host", "authorization")
"""Headers by which a request is admitted, of which one is allowed."""
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Check that only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _repeated(scope: Scope) -> str | None:
    """Return a header of admission that was sent twice: a proxy may have read the other one."""
    headers = Headers(scope=scope)
    return next((name for name in _SINGLE if len(headers.getlist(name)) > 1), None)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(f"{PATH}/")


class Doorkeeper:
    """Knows callers by their keys.

    On loopback, no key is needed until the first is created; then, and everywhere else, every
    request needs one. `local_token` is the service's own, which anyone who can read the data
    directory finds there.
    """

    def __init__(
        self,
        keys: Keys,
        host: str,
        origins: Collection[str] = (),
        *,
        local_token: str | None = None,
        closed: bool = False,
    ) -> None:
        """Pages of these `origins` may send requests without a key, beside the service's own.

        `closed` asks every request for one, on loopback too.
        """
        self.keys = keys
        self._threads = CapacityLimiter(_THREADS)
        self._origins = origins
        self._loopback = is_loopback(host)
        self._closed = closed or not self._loopback
        self.local_token = local_token or secrets.token_urlsafe(32)
        if not self._loopback and not len(keys.read()):
            raise ConfigurationError(
                f"{host} can be reached from other machines, and there is no API key yet: create"
                " one with `semantic-memory keys create`, or listen on 127.0.0.1"
            )

    async def caller(self, authorization: str | None) -> Caller | None:
        """Identify the sender; return None if a key is needed and none valid was sent.

        Raises StoreUnavailableError if the keys can't be read.
        """
        if authorization is not None:
            scheme, _, token = authorization.partition(" ")
            token = token.strip()
            if scheme.lower() != "bearer":
                return None
            if secrets.compare_digest(token.encode(), self.local_token.encode()):
                return Caller("local", ("*",), ANYONE)
            key = (await self._ring()).find(token)
            if key is None:  # it may be new
                key = (await self._read()).find(token)
            if key is None:
                return None
            return Caller(key.id, key.users, key.rights, key.name, key.agent_id, key.spaces)
        self._closed = self._closed or len(await self._ring()) > 0
        return None if self._closed else Caller("anyone", ("*",), ANYONE)

    async def _ring(self) -> KeyRing:
        ring = self.keys.at_hand()
        return await self._read() if ring is None else ring

    async def _read(self) -> KeyRing:
        return await to_thread.run_sync(self.keys.read, limiter=self._threads)

    def serves(self, host: str | None) -> bool:
        """Check that a request without a key may be addressed to `host`.

        A web page can point a name of its own at 127.0.0.1, and would then read the answers.
        """
        return host is not None and re.sub(r":\d+$", "", host.strip().lower()) in _LOCAL_NAMES

    def admits(self, origin: str | None, host: str | None) -> bool:
        """Check that a request without a key may come from a page of `origin`; None is no page.

        A page of another site can't read the answer, but could write.
        """
        if origin is None or origin in self._origins:
            return True
        scheme, _, place = origin.strip().lower().partition("://")
        return scheme in ("http", "https") and place == (host or "").strip().lower()


class Rates(Protocol):
    """The rates of callers: how often each may send a request."""

    def take(self, name: str) -> float | None:
        """Count a request of a caller without waiting.

        Return 0, or the seconds until it may be sent; None if that isn't known at hand.
        """
        ...

    def draw(self, name: str) -> float:
        """Count a request of a caller; may wait for a database."""
        ...


class Access:
    """ASGI middleware: no request continues without its caller, or beyond the caller's rate."""

    def __init__(
        self,
        app: ASGIApp,
        doorkeeper: Doorkeeper,
        rates: Rates,
        requests_per_minute: int,
    ) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._rates = rates
        self._per_minute = requests_per_minute
        self._threads = CapacityLimiter(_THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 401, 403, 421, 429 or 503, or pass it on with its caller in the state."""
        if scope["type"] == "http" and (name := _repeated(scope)):
            refusal = problem(scope, 400, f"several headers {name!r}: send one")
            await refusal(scope, receive, send)
            return
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            admitted = await self._admitted(scope)
        except StoreUnavailableError:  # it names the database, which is no stranger's business
            admitted = problem(scope, 503, "the API keys can't be looked up just now: try again")
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = admitted
        with acting(admitted.key):
            await self._app(scope, receive, send)

    async def _admitted(self, scope: Scope) -> Caller | Response:
        """Return the caller, or the answer to a request that doesn't continue."""
        headers = Headers(scope=scope)
        authorization = headers.get("authorization")
        caller = await self._doorkeeper.caller(authorization)
        if caller is None:
            said = "unknown API key" if authorization else "no API key"
            return problem(
                scope,
                401,
                f"{said}: send `Authorization: Bearer KEY`",
                headers={"WWW-Authenticate": "Bearer"},
            )
        host = headers.get("host")
        if authorization is None and not self._doorkeeper.serves(host):
            names = ", ".join(_LOCAL_NAMES)
            return problem(scope, 421, f"without a key this service answers to {names} only")
        if authorization is None and not self._doorkeeper.admits(headers.get("origin"), host):
            return problem(
                scope, 403, "without a key this service takes no requests of other sites' pages"
            )
        if authorization is not None and (wait := await self._wait(caller)):
            seconds = math.ceil(wait)
            return problem(
                scope,
                429,
                f"this key may send {self._per_minute:,} requests a minute; wait {seconds} s",
                headers={"Retry-After": str(seconds)},
            )
        return caller

    async def _wait(self, caller: Caller) -> float:
        if caller.name == "local":
            return 0.0
        wait = self._rates.take(caller.name)
        if wait is None:
            wait = await to_thread.run_sync(self._rates.draw, caller.name, limiter=self._threads)
        return wait


# Only documents the header: `Access` has looked at it before any route is reached.
documents_key = HTTPBearer(auto_error=False, description="An API key.", scheme_name="API key")


async def current_caller(request: Request) -> Caller:
    """Return the sender of the request."""
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(current_caller)]
UserId = Annotated[Identifier, Query(description="Whose memory.", examples=["maya"])]

MaybeUserId = Annotated[
    Identifier | None,
    Query(description="Whose memory. Needed unless the key covers every user.", examples=["maya"]),
]


async def _reader(user_id: UserId, caller: CurrentCaller) -> str:
    caller.require(Right.READ, user_id)
    return user_id


async def _writer(user_id: UserId, caller: CurrentCaller) -> str:
    caller.require(Right.WRITE, user_id)
    return user_id


async def _any_reader(caller: CurrentCaller, user_id: MaybeUserId = None) -> str | None:
    caller.require_user(Right.READ, user_id, scoped=True)
    return user_id


async def _any_writer(caller: CurrentCaller, user_id: MaybeUserId = None) -> str | None:
    caller.require_user(Right.WRITE, user_id, scoped=True)
    return user_id


async def _admin(caller: CurrentCaller) -> Caller:
    caller.require(Right.ADMIN)
    return caller


Reader = Annotated[str, Depends(_reader)]
"""The user of the query, whom the caller may read."""
Writer = Annotated[str, Depends(_writer)]
"""The user of the query, whom the caller may write for."""
AnyReader = Annotated[str | None, Depends(_any_reader)]
"""As `Reader`; no user stands for every one, for a caller who may read them all.

The route limits itself to the caller's agent.
"""
AnyWriter = Annotated[str | None, Depends(_any_writer)]
"""As `Writer`; no user stands for every one, for a caller who may write for them all.

The route limits itself to the caller's agent.
"""
Admin = Annotated[Caller, Depends(_admin)]
"""A caller who may run upkeep."""
