"""Clients of a running service, with the verbs of `SemanticMemory`.

from semantic_memory.client import Client

with Client("http://127.0.0.1:8321", api_key="smk_...") as memory:
    memory.add("Prefers tea", user_id="maya")
    print(memory.context("What to drink?", user_id="maya").text)
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self

import httpx
import stamina

from semantic_memory.client import calls
from semantic_memory.client.calls import Call
from semantic_memory.client.sending import (
    as_async,
    awaited,
    check,
    request_options,
    retryable,
    sent,
    unreachable,
)

__all__ = ["AsyncClient", "Client"]

_TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class Client:
    """A memory service, called as if it were a `SemanticMemory`. Thread-safe.

    What fails for the moment (no connection, 408, 429, 502, 503, 504) is sent again, up to
    `attempts` times within `seconds`, waiting as long as the service asks for or ever longer;
    writes carry an idempotency key and happen once.

    All verbs raise ServiceUnavailableError if that doesn't help, AccessDeniedError if the key
    doesn't reach that far, and what the verb of `SemanticMemory` raises.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: httpx.Timeout | float = _TIMEOUT,
        attempts: int = 5,
        seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            base_url=url, headers=_headers(api_key), timeout=timeout, transport=transport
        )
        self._attempts = attempts
        self._seconds = seconds

    observe = sent(calls.observe)
    add = sent(calls.add)
    add_many = sent(calls.add_many)
    flush = sent(calls.flush)
    search = sent(calls.search)
    context = sent(calls.context)
    get = sent(calls.get)
    list = sent(calls.list_)
    update = sent(calls.update)
    delete = sent(calls.delete)
    restore = sent(calls.restore)
    history = sent(calls.history)
    profile = sent(calls.profile)
    update_profile = sent(calls.update_profile)
    profile_history = sent(calls.profile_history)
    explain = sent(calls.explain)
    layout = sent(calls.layout)
    sessions = sent(calls.sessions)
    messages = sent(calls.messages)
    forget = sent(calls.forget)
    load = sent(calls.load)
    users = sent(calls.users)
    stats = sent(calls.stats)
    check = sent(calls.check)
    maintain = sent(calls.maintain)
    runs = sent(calls.runs)
    rebuild = sent(calls.rebuild)

    def export(self, *, user_id: str, session_id: str | None = None) -> Iterator[dict[str, Any]]:
        """A user's memory, or what came of one session, as records that JSON can hold."""
        call = Call("GET", "/v1/export", {"user_id": user_id, "session_id": session_id})
        try:
            with self._http.stream(call.method, call.path, **request_options(call)) as response:
                if not response.is_success:
                    response.read()
                    check(response)
                for line in response.iter_lines():
                    yield json.loads(line)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    def send(self, call: Call) -> bytes:
        """Send one request, again where that may help; returns the answer's body."""
        options = request_options(call)
        if call.lines is not None:
            return self._send(call, {**options, "content": call.lines})
        for attempt in stamina.retry_context(
            on=retryable, attempts=self._attempts, timeout=self._seconds
        ):
            with attempt:
                return self._send(call, options)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _send(self, call: Call, options: dict[str, Any]) -> bytes:
        try:
            response = self._http.request(call.method, call.path, **options)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response.content

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient:
    """A `Client` whose verbs are awaited."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: httpx.Timeout | float = _TIMEOUT,
        attempts: int = 5,
        seconds: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=_headers(api_key), timeout=timeout, transport=transport
        )
        self._attempts = attempts
        self._seconds = seconds

    observe = awaited(calls.observe)
    add = awaited(calls.add)
    add_many = awaited(calls.add_many)
    flush = awaited(calls.flush)
    search = awaited(calls.search)
    context = awaited(calls.context)
    get = awaited(calls.get)
    list = awaited(calls.list_)
    update = awaited(calls.update)
    delete = awaited(calls.delete)
    restore = awaited(calls.restore)
    history = awaited(calls.history)
    profile = awaited(calls.profile)
    update_profile = awaited(calls.update_profile)
    profile_history = awaited(calls.profile_history)
    explain = awaited(calls.explain)
    layout = awaited(calls.layout)
    sessions = awaited(calls.sessions)
    messages = awaited(calls.messages)
    forget = awaited(calls.forget)
    load = awaited(calls.load)
    users = awaited(calls.users)
    stats = awaited(calls.stats)
    check = awaited(calls.check)
    maintain = awaited(calls.maintain)
    runs = awaited(calls.runs)
    rebuild = awaited(calls.rebuild)

    async def export(
        self, *, user_id: str, session_id: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """A user's memory, or what came of one session, as records that JSON can hold."""
        call = Call("GET", "/v1/export", {"user_id": user_id, "session_id": session_id})
        options = request_options(call)
        try:
            async with self._http.stream(call.method, call.path, **options) as response:
                if not response.is_success:
                    await response.aread()
                    check(response)
                async for line in response.aiter_lines():
                    yield json.loads(line)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    async def send(self, call: Call) -> bytes:
        """Send one request, again where that may help; returns the answer's body."""
        options = request_options(call)
        if call.lines is not None:
            return await self._send(call, {**options, "content": as_async(call.lines)})
        async for attempt in stamina.retry_context(
            on=retryable, attempts=self._attempts, timeout=self._seconds
        ):
            with attempt:
                return await self._send(call, options)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _send(self, call: Call, options: dict[str, Any]) -> bytes:
        try:
            response = await self._http.request(call.method, call.path, **options)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response.content

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _headers(api_key: str | None) -> dict[str, str]:
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
