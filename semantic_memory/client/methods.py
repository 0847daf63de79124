"""Methods of the clients, made of the verbs in `semantic_memory.client.tables`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from semantic_memory.client.calls import Verb
from semantic_memory.client.connection import AsyncConnection, Connection
from semantic_memory.client.following import AsyncClientSubscription, ClientSubscription
from semantic_memory.client.tables import events
from semantic_memory.domain.feed import NOW, MemoryEvent
from semantic_memory.domain.requests import EventsRequest, SubscribeRequest
from semantic_memory.domain.requests.base import as_method, built

P = ParamSpec("P")
T = TypeVar("T")


class _Sender(Protocol):
    @property
    def _connection(self) -> Connection: ...


class _AsyncSender(Protocol):
    @property
    def _connection(self) -> AsyncConnection: ...


SenderT = TypeVar("SenderT", bound=_Sender)
AsyncSenderT = TypeVar("AsyncSenderT", bound=_AsyncSender)


def sent(verb: Verb[P, T]) -> Callable[Concatenate[SenderT, P], T]:
    """Make a method that builds the verb's request and sends its calls."""

    def method(self: SenderT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(built(verb.build, *args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(self._connection.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    return as_method(method, verb.build)


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[AsyncSenderT, P], Awaitable[T]]:
    """Make an asynchronous method that builds the verb's request and sends its calls."""

    async def method(self: AsyncSenderT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(built(verb.build, *args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(await self._connection.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    return as_method(method, verb.build)


def streamed(verb: Verb[P, T]) -> Callable[Concatenate[SenderT, P], Iterator[T]]:
    """Make a method that yields what the lines of the answer hold."""

    def method(self: SenderT, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        call = verb.call(built(verb.build, *args, **kwargs))
        return map(verb.read, self._connection.lines(call))

    return as_method(method, verb.build)


def streamed_async(verb: Verb[P, T]) -> Callable[Concatenate[AsyncSenderT, P], AsyncIterator[T]]:
    """Make an asynchronous method that yields what the lines of the answer hold."""

    async def method(self: AsyncSenderT, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        async for line in self._connection.lines(verb.call(built(verb.build, *args, **kwargs))):
            yield verb.read(line)

    return as_method(method, verb.build)


_LATEST = events.list_.call(EventsRequest.of(after=NOW))


def followed(
    verb: Verb[P, MemoryEvent],
) -> Callable[Concatenate[SenderT, P], ClientSubscription]:
    """Make a method that returns a subscription, which begins with the call if it names no place.

    It raises as other methods if the service can't be reached, at first or again.
    """

    def method(self: SenderT, /, *args: P.args, **kwargs: P.kwargs) -> ClientSubscription:
        asked = built(verb.build, *args, **kwargs)
        start = _place(asked)
        if start is None:
            start = events.list_.read(self._connection.send(_LATEST)).next
        return ClientSubscription(partial(self._connection.follow, verb.call(asked)), start)

    return as_method(method, verb.build)


def followed_async(
    verb: Verb[P, MemoryEvent],
) -> Callable[Concatenate[AsyncSenderT, P], Awaitable[AsyncClientSubscription]]:
    """Make an asynchronous method that returns a subscription, as `followed` does."""

    async def method(
        self: AsyncSenderT, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncClientSubscription:
        asked = built(verb.build, *args, **kwargs)
        start = _place(asked)
        if start is None:
            start = events.list_.read(await self._connection.send(_LATEST)).next
        return AsyncClientSubscription(partial(self._connection.follow, verb.call(asked)), start)

    return as_method(method, verb.build)


def _place(asked: object) -> int | None:
    """Return the place that a subscription names, None for its beginning with the call."""
    assert isinstance(asked, SubscribeRequest)  # noqa: S101  # of the one verb that is followed
    return None if asked.after == NOW else asked.after
