"""Connections to a service: calls are sent, again where that may help, and answers checked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import stamina

from semantic_memory.client.calls import Call
from semantic_memory.client.following import stream_options
from semantic_memory.client.sending import (
    as_async,
    check,
    request_options,
    retryable,
    unreachable,
)

TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class Connection:
    """Sends calls and waits for the answers. Thread-safe."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        timeout: httpx.Timeout | float,
        attempts: int,
        seconds: float,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self._http = httpx.Client(
            base_url=url, headers=_headers(api_key), timeout=timeout, transport=transport
        )
        # It is given lambdas, as it logs the arguments of what it calls again.
        self._retrying = stamina.RetryingCaller(attempts, seconds).on(retryable)

    def send(self, call: Call) -> bytes:
        """Send one call, again where that may help; return the answer's body."""
        options = request_options(call)
        if call.lines is not None:
            return self._send(call, {**options, "content": call.lines})
        return self._retrying(lambda: self._send(call, options))

    def _send(self, call: Call, options: dict[str, Any]) -> bytes:
        try:
            response = self._http.request(call.method, call.path, **options)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response.content

    def lines(self, call: Call) -> Iterator[bytes]:
        """Send one call; yield the lines of the answer as they arrive."""
        try:
            with self._http.stream(call.method, call.path, **request_options(call)) as response:
                if not response.is_success:
                    response.read()
                    check(response)
                for line in response.iter_lines():
                    yield line.encode()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    def follow(self, call: Call, place: int) -> httpx.Response:
        """Open the stream of a call behind a place, again where that may help."""
        options = stream_options(call, place, self._http.timeout)
        return self._retrying(
            lambda: self._streaming(self._http.build_request("GET", call.path, **options))
        )

    def _streaming(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._http.send(request, stream=True)
            if not response.is_success:
                response.read()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response

    def close(self) -> None:
        """Close every connection."""
        self._http.close()


class AsyncConnection:
    """A `Connection` whose methods are awaited."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        timeout: httpx.Timeout | float,
        attempts: int,
        seconds: float,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=_headers(api_key), timeout=timeout, transport=transport
        )
        self._retrying = stamina.AsyncRetryingCaller(attempts, seconds).on(retryable)

    async def send(self, call: Call) -> bytes:
        """Send one call, again where that may help; return the answer's body."""
        options = request_options(call)
        if call.lines is not None:
            return await self._send(call, {**options, "content": as_async(call.lines)})
        return await self._retrying(lambda: self._send(call, options))

    async def _send(self, call: Call, options: dict[str, Any]) -> bytes:
        try:
            response = await self._http.request(call.method, call.path, **options)
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response.content

    async def lines(self, call: Call) -> AsyncIterator[bytes]:
        """Send one call; yield the lines of the answer as they arrive."""
        options = request_options(call)
        try:
            async with self._http.stream(call.method, call.path, **options) as response:
                if not response.is_success:
                    await response.aread()
                    check(response)
                async for line in response.aiter_lines():
                    yield line.encode()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    async def follow(self, call: Call, place: int) -> httpx.Response:
        """Open the stream of a call behind a place, again where that may help."""
        options = stream_options(call, place, self._http.timeout)
        return await self._retrying(
            lambda: self._streaming(self._http.build_request("GET", call.path, **options))
        )

    async def _streaming(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._http.send(request, stream=True)
            if not response.is_success:
                await response.aread()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()


def _headers(api_key: str | None) -> dict[str, str]:
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
