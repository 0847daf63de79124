"""The groups of an `AsyncSemanticMemory`: methods that run on a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from semantic_memory.groups.admin import Admin
from semantic_memory.groups.events import Events
from semantic_memory.groups.history import History
from semantic_memory.groups.items import Items
from semantic_memory.groups.jobs import Jobs
from semantic_memory.groups.profile import Profiles
from semantic_memory.groups.sessions import Sessions
from semantic_memory.groups.subscription import AsyncSubscription
from semantic_memory.groups.transfer import Transfers

if TYPE_CHECKING:  # they would load the parts
    from semantic_memory.application.feed import Subscription
    from semantic_memory.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")
BlockingT = TypeVar("BlockingT")
BlockingT_co = TypeVar("BlockingT_co", covariant=True)


class _Around(Protocol[BlockingT_co]):
    """An object around one that blocks."""

    @property
    def blocking(self) -> BlockingT_co: ...


def threaded(
    verb: Callable[Concatenate[BlockingT, P], T],
) -> Callable[Concatenate[_Around[BlockingT], P], Awaitable[T]]:
    """Make an awaited method of one that blocks."""

    @wraps(verb)
    async def method(self: _Around[BlockingT], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(verb, self.blocking, *args, **kwargs)

    return method


def iterated(
    verb: Callable[Concatenate[BlockingT, P], Iterator[T]],
) -> Callable[Concatenate[_Around[BlockingT], P], AsyncIterator[T]]:
    """Make an asynchronous generator of a method that yields."""

    @wraps(verb)
    async def method(
        self: _Around[BlockingT], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[T]:
        found = await asyncio.to_thread(verb, self.blocking, *args, **kwargs)
        while (one := await asyncio.to_thread(next, found, None)) is not None:
            yield one

    return method


def followed(
    verb: Callable[Concatenate[BlockingT, P], Subscription],
) -> Callable[Concatenate[_Around[BlockingT], P], Awaitable[AsyncSubscription]]:
    """Make a method that returns an asynchronous iterator of one that returns a subscription."""

    @wraps(verb)
    async def method(
        self: _Around[BlockingT], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncSubscription:
        return AsyncSubscription(await asyncio.to_thread(verb, self.blocking, *args, **kwargs))

    return method


class AsyncGroup(Generic[BlockingT]):
    """A group whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: BlockingT) -> None:
        self.blocking = blocking


class AsyncSessions(AsyncGroup[Sessions]):
    """`Sessions` whose methods are awaited."""

    create = threaded(Sessions.create)
    load = threaded(Sessions.load)
    close = threaded(Sessions.close)
    configure = threaded(Sessions.configure)
    messages = threaded(Sessions.messages)
    pop = threaded(Sessions.pop)
    list = threaded(Sessions.list)


class AsyncProfiles(AsyncGroup[Profiles]):
    """`Profiles` whose methods are awaited."""

    get = threaded(Profiles.get)
    update = threaded(Profiles.update)
    history = threaded(Profiles.history)
    tags = threaded(Profiles.tags)
    layout = threaded(Profiles.layout)


class AsyncHistory(AsyncGroup[History]):
    """`History` whose methods are awaited."""

    versions = threaded(History.versions)
    explain = threaded(History.explain)
    restore = threaded(History.restore)
    audit = threaded(History.audit)
    retired = threaded(History.retired)
    undo = threaded(History.undo)
    to_confirm = threaded(History.to_confirm)
    accept = threaded(History.accept)
    reject = threaded(History.reject)
    labels = threaded(History.labels)
    requests = threaded(History.requests)
    settle = threaded(History.settle)


class AsyncTransfers(AsyncGroup[Transfers]):
    """`Transfers` whose methods are awaited."""

    add_many = threaded(Transfers.add_many)
    load = threaded(Transfers.load)
    to_dict = threaded(Transfers.to_dict)
    from_dict = threaded(Transfers.from_dict)
    export = iterated(Transfers.export)


class AsyncEvents(AsyncGroup[Events]):
    """`Events` whose methods are awaited."""

    list = threaded(Events.list)
    subscribe = followed(Events.subscribe)


class AsyncJobs(AsyncGroup[Jobs]):
    """`Jobs` whose methods are awaited."""

    run = threaded(Jobs.run)
    runs = threaded(Jobs.runs)


class AsyncAdmin(AsyncGroup[Admin]):
    """`Admin` whose methods are awaited."""

    users = threaded(Admin.users)
    ids = threaded(Admin.ids)
    stats = threaded(Admin.stats)
    check = threaded(Admin.check)
    rebuild = threaded(Admin.rebuild)
    verify_receipt = threaded(Admin.verify_receipt)

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self.blocking.settings


class AsyncItems(AsyncGroup[Items]):
    """`Items` whose methods are awaited."""

    put = threaded(Items.put)
    get = threaded(Items.get)
    delete = threaded(Items.delete)
    list = threaded(Items.list)
    search = threaded(Items.search)
    namespaces = threaded(Items.namespaces)
