"""Clients of a running service, with the methods of `SemanticMemory`.

from semantic_memory.client import Client

with Client("http://127.0.0.1:8321", api_key="smk_...") as memory:
    memory.add("Prefers tea", user_id="maya")
    print(memory.context("What to drink?", user_id="maya").text)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Self

import httpx
import stamina

from semantic_memory.client import verbs
from semantic_memory.client.beliefs import AsyncClientBeliefs, ClientBeliefs
from semantic_memory.client.following import (
    AsyncClientSubscription,
    ClientSubscription,
    stream_options,
)
from semantic_memory.client.items import AsyncClientItems, ClientItems
from semantic_memory.client.sending import (
    as_async,
    awaited,
    check,
    request_options,
    retryable,
    sent,
    unreachable,
)
from semantic_memory.client.verbs import Call
from semantic_memory.domain.feed import NOW, EventKind
from semantic_memory.domain.filters import FilterLike
from semantic_memory.domain.requests import ExportRequest, SubscribeRequest

__all__ = ["AsyncClient", "Client"]

_TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class Client:
    """A client of a memory service, with the methods of `SemanticMemory`. Thread-safe.

    Temporary failures (no connection, 408, 429, 502, 503, 504) are sent again, up to `attempts`
    times within `seconds`, after the pause that the service asks for or with exponential back-off;
    writes carry an idempotency key and happen once.

    All methods raise ServiceUnavailableError if that doesn't help, AccessDeniedError if the key
    doesn't cover the user or the right, and the errors of the method of `SemanticMemory`.
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

    @property
    def items(self) -> ClientItems:
        """The items: JSON values under exact keys, beside the facts."""
        return ClientItems(self)

    @property
    def beliefs(self) -> ClientBeliefs:
        """The review of what newer statements ended, or perhaps changed."""
        return ClientBeliefs(self)

    observe = sent(verbs.observe)
    add = sent(verbs.add)
    add_many = sent(verbs.add_many)
    flush = sent(verbs.flush)
    search = sent(verbs.search)
    context = sent(verbs.context)
    get = sent(verbs.get)
    list = sent(verbs.list_)
    update = sent(verbs.update)
    delete = sent(verbs.delete)
    restore = sent(verbs.restore)
    history = sent(verbs.history)
    profile = sent(verbs.profile)
    update_profile = sent(verbs.update_profile)
    profile_history = sent(verbs.profile_history)
    explain = sent(verbs.explain)
    tags = sent(verbs.tags)
    audit = sent(verbs.audit)
    requests = sent(verbs.requests)
    settle_request = sent(verbs.settle_request)
    layout = sent(verbs.layout)
    sessions = sent(verbs.sessions)
    configure_session = sent(verbs.configure_session)
    create_session = sent(verbs.create_session)
    load_session = sent(verbs.load_session)
    close_session = sent(verbs.close_session)
    messages = sent(verbs.messages)
    pop = sent(verbs.pop)
    forget = sent(verbs.forget)
    verify_receipt = sent(verbs.verify_receipt)
    load = sent(verbs.load)
    to_dict = sent(verbs.to_dict)
    from_dict = sent(verbs.from_dict)
    events = sent(verbs.events)
    users = sent(verbs.users)
    stats = sent(verbs.stats)
    check = sent(verbs.check)
    maintain = sent(verbs.maintain)
    runs = sent(verbs.runs)
    rebuild = sent(verbs.rebuild)

    def export(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield a user's memory, one session's or what passes `filters`, as JSON-like records."""
        asked = ExportRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
        )
        call = verbs.export.call(asked)
        try:
            with self._http.stream(call.method, call.path, **request_options(call)) as response:
                if not response.is_success:
                    response.read()
                    check(response)
                for line in response.iter_lines():
                    yield verbs.export.read(line.encode())
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    def subscribe(
        self,
        *,
        after: int | Literal["now"] = NOW,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
    ) -> ClientSubscription:
        """Follow what changes in the memory: an iterator that waits for the next event.

        Begins with the call, or behind the event `after`. Raises as other methods if the service
        can't be reached, at first or again.
        """
        asked = SubscribeRequest.of(after=after, user_id=user_id, kinds=kinds)
        call = verbs.subscribe.call(asked)
        start = self.events(after=NOW).next if asked.after == NOW else asked.after

        def connect(place: int) -> httpx.Response:
            options = stream_options(call, place, self._http.timeout)
            for attempt in stamina.retry_context(
                on=retryable, attempts=self._attempts, timeout=self._seconds
            ):
                with attempt:
                    return self._streaming(self._http.build_request("GET", call.path, **options))
            raise AssertionError("unreachable: the last attempt returns or raises")

        return ClientSubscription(connect, start)

    def _streaming(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._http.send(request, stream=True)
            if not response.is_success:
                response.read()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response

    def send(self, call: Call) -> bytes:
        """Send one call, again where that may help; return the answer's body."""
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
    """A `Client` whose methods are awaited."""

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

    @property
    def items(self) -> AsyncClientItems:
        """The items: JSON values under exact keys, beside the facts."""
        return AsyncClientItems(self)

    @property
    def beliefs(self) -> AsyncClientBeliefs:
        """The review of what newer statements ended, or perhaps changed."""
        return AsyncClientBeliefs(self)

    observe = awaited(verbs.observe)
    add = awaited(verbs.add)
    add_many = awaited(verbs.add_many)
    flush = awaited(verbs.flush)
    search = awaited(verbs.search)
    context = awaited(verbs.context)
    get = awaited(verbs.get)
    list = awaited(verbs.list_)
    update = awaited(verbs.update)
    delete = awaited(verbs.delete)
    restore = awaited(verbs.restore)
    history = awaited(verbs.history)
    profile = awaited(verbs.profile)
    update_profile = awaited(verbs.update_profile)
    profile_history = awaited(verbs.profile_history)
    explain = awaited(verbs.explain)
    tags = awaited(verbs.tags)
    audit = awaited(verbs.audit)
    requests = awaited(verbs.requests)
    settle_request = awaited(verbs.settle_request)
    layout = awaited(verbs.layout)
    sessions = awaited(verbs.sessions)
    configure_session = awaited(verbs.configure_session)
    create_session = awaited(verbs.create_session)
    load_session = awaited(verbs.load_session)
    close_session = awaited(verbs.close_session)
    messages = awaited(verbs.messages)
    pop = awaited(verbs.pop)
    forget = awaited(verbs.forget)
    verify_receipt = awaited(verbs.verify_receipt)
    load = awaited(verbs.load)
    to_dict = awaited(verbs.to_dict)
    from_dict = awaited(verbs.from_dict)
    events = awaited(verbs.events)
    users = awaited(verbs.users)
    stats = awaited(verbs.stats)
    check = awaited(verbs.check)
    maintain = awaited(verbs.maintain)
    runs = awaited(verbs.runs)
    rebuild = awaited(verbs.rebuild)

    async def export(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield a user's memory, one session's or what passes `filters`, as JSON-like records."""
        asked = ExportRequest.of(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
        )
        call = verbs.export.call(asked)
        options = request_options(call)
        try:
            async with self._http.stream(call.method, call.path, **options) as response:
                if not response.is_success:
                    await response.aread()
                    check(response)
                async for line in response.aiter_lines():
                    yield verbs.export.read(line.encode())
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error

    async def subscribe(
        self,
        *,
        after: int | Literal["now"] = NOW,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
    ) -> AsyncClientSubscription:
        """Follow what changes in the memory: an iterator that awaits the next event.

        Begins with the call, or behind the event `after`. Raises as other methods if the service
        can't be reached, at first or again.
        """
        asked = SubscribeRequest.of(after=after, user_id=user_id, kinds=kinds)
        call = verbs.subscribe.call(asked)
        start = (await self.events(after=NOW)).next if asked.after == NOW else asked.after

        async def connect(place: int) -> httpx.Response:
            options = stream_options(call, place, self._http.timeout)
            async for attempt in stamina.retry_context(
                on=retryable, attempts=self._attempts, timeout=self._seconds
            ):
                with attempt:
                    request = self._http.build_request("GET", call.path, **options)
                    return await self._streaming(request)
            raise AssertionError("unreachable: the last attempt returns or raises")

        return AsyncClientSubscription(connect, start)

    async def _streaming(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._http.send(request, stream=True)
            if not response.is_success:
                await response.aread()
        except httpx.TransportError as error:
            raise unreachable(self._http.base_url, error) from error
        check(response)
        return response

    async def send(self, call: Call) -> bytes:
        """Send one call, again where that may help; return the answer's body."""
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
