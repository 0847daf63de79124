"""Methods of the clients, made of the verbs in `semantic_memory.client.tables`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from semantic_memory.client.calls import Verb
from semantic_memory.client.connection import AsyncConnection, Connection
from semantic_memory.client.following import AsyncClientSubscription, ClientSubscription
from semantic_memory.client.tables import events
from semantic_memory.domain.closing import AsyncClosing
from semantic_memory.domain.feed import NOW, MemoryEvent
from semantic_memory.domain.requests import EventsRequest, SubscribeRequest
from semantic_memory.domain.requests.base import as_method, built

P = ParamSpec("P")
T = TypeVar("T")
AwaitedT = TypeVar("AwaitedT")
ConnectionT = TypeVar("ConnectionT", Connection, AsyncConnection)


class ClientGroup(Generic[ConnectionT]):
    """Methods over one connection, which are awaited if it is asynchronous."""

    def __init__(self, connection: ConnectionT) -> None:
        self._connection: ConnectionT = connection


_Group = ClientGroup[Connection]
_AsyncGroup = ClientGroup[AsyncConnection]


class Method(Generic[P, T, AwaitedT]):
    """A method in two forms, of which a group has the one of its connection."""

    def __init__(
        self,
        verb: Verb[P, Any],
        blocking: Callable[Concatenate[_Group, P], T],
        awaited: Callable[Concatenate[_AsyncGroup, P], AwaitedT],
    ) -> None:
        self._blocking = as_method(blocking, verb.build)
        self._awaited = as_method(awaited, verb.build)

    @overload
    def __get__(self, group: _Group, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, group: _AsyncGroup, kind: type) -> Callable[P, AwaitedT]: ...
    def __get__(self, group: _Group | _AsyncGroup | None, kind: type) -> object:
        if group is None:  # of the class: for its signature and documentation
            return self._awaited if issubclass(kind, AsyncClosing) else self._blocking
        is_blocking = isinstance(group._connection, Connection)  # noqa: SLF001  # of this module
        return MethodType(self._blocking if is_blocking else self._awaited, group)


def method(verb: Verb[P, T]) -> Method[P, T, Awaitable[T]]:
    """Make a method that builds the verb's request and sends its calls."""

    def blocking(self: _Group, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(built(verb.build, *args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(self._connection.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    async def awaited(self: _AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(built(verb.build, *args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(await self._connection.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    return Method(verb, blocking, awaited)


def lines(verb: Verb[P, T]) -> Method[P, Iterator[T], AsyncIterator[T]]:
    """Make a method that yields what the lines of the answer hold."""

    def blocking(self: _Group, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        call = verb.call(built(verb.build, *args, **kwargs))
        return map(verb.read, self._connection.lines(call))

    async def awaited(self: _AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        async for line in self._connection.lines(verb.call(built(verb.build, *args, **kwargs))):
            yield verb.read(line)

    return Method(verb, blocking, awaited)


_LATEST = events.list_.call(EventsRequest.of(after=NOW))


def subscription(
    verb: Verb[P, MemoryEvent],
) -> Method[P, ClientSubscription, Awaitable[AsyncClientSubscription]]:
    """Make a method that returns a subscription, which begins with the call if it names no place.

    It raises as other methods if the service can't be reached, at first or again.
    """

    def blocking(self: _Group, /, *args: P.args, **kwargs: P.kwargs) -> ClientSubscription:
        asked = built(verb.build, *args, **kwargs)
        start = _place(asked)
        if start is None:
            start = events.list_.read(self._connection.send(_LATEST)).next
        return ClientSubscription(partial(self._connection.follow, verb.call(asked)), start)

    async def awaited(
        self: _AsyncGroup, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncClientSubscription:
        asked = built(verb.build, *args, **kwargs)
        start = _place(asked)
        if start is None:
            start = events.list_.read(await self._connection.send(_LATEST)).next
        return AsyncClientSubscription(partial(self._connection.follow, verb.call(asked)), start)

    return Method(verb, blocking, awaited)


def _place(asked: object) -> int | None:
    """Return the place that a subscription names, None for its beginning with the call."""
    assert isinstance(asked, SubscribeRequest)  # noqa: S101  # of the one verb that is followed
    return None if asked.after == NOW else asked.after
