"""The facade for asynchronous programs: each method runs on a thread of its own.

from semantic_memory.aio import AsyncSemanticMemory

async with await AsyncSemanticMemory.open("memory") as memory:
    await memory.add("Prefers tea", user_id="maya")
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, Self, TypeVar

from semantic_memory.beliefs import Beliefs
from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.feed import NOW, EventKind, EventPage, MemoryEvent
from semantic_memory.domain.filters import FilterLike
from semantic_memory.items import Items
from semantic_memory.memory import SemanticMemory

if TYPE_CHECKING:
    from semantic_memory.application.feed import Subscription
    from semantic_memory.client import AsyncClient
    from semantic_memory.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")
BlockingT = TypeVar("BlockingT")


class _Around(Protocol[BlockingT]):
    """An object around one that blocks."""

    blocking: BlockingT


def _threaded(
    verb: Callable[Concatenate[BlockingT, P], T],
) -> Callable[Concatenate[_Around[BlockingT], P], Awaitable[T]]:
    @wraps(verb)
    async def method(self: _Around[BlockingT], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(verb, self.blocking, *args, **kwargs)

    method.__signature__ = inspect.signature(verb)  # type: ignore[attr-defined]
    return method


class AsyncItems:
    """`Items` whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: Items) -> None:
        self.blocking = blocking

    put = _threaded(Items.put)
    get = _threaded(Items.get)
    delete = _threaded(Items.delete)
    list = _threaded(Items.list)
    search = _threaded(Items.search)
    namespaces = _threaded(Items.namespaces)


class AsyncBeliefs:
    """`Beliefs` whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: Beliefs) -> None:
        self.blocking = blocking

    retired = _threaded(Beliefs.retired)
    undo = _threaded(Beliefs.undo)
    to_confirm = _threaded(Beliefs.to_confirm)
    accept = _threaded(Beliefs.accept)
    reject = _threaded(Beliefs.reject)
    labels = _threaded(Beliefs.labels)


class AsyncSubscription:
    """A `Subscription` that is iterated with `async for`, in the event loop that made it.

    Waiting may be cancelled, which loses no event.
    """

    def __init__(self, blocking: Subscription) -> None:
        self.after = blocking.after
        """The place behind all that was handed out."""
        self._next = blocking.after  # behind all that was read
        self._blocking = blocking
        self._read: deque[MemoryEvent] = deque()
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._closed = False
        self._stop: Callable[[], None] | None = None

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(self._woken.set)

    async def page(self, seconds: float | None = None) -> EventPage | None:
        """Return the next events; none if none come for `seconds`, None at the end."""
        if self._stop is None:
            self._stop = self._blocking.on_commit(self._wake)
        page = EventPage(self._read, self._next)
        self._read.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not page and not self._closed:
                    self._woken.clear()
                    try:
                        page = await asyncio.to_thread(self._blocking.read, self._next)
                    except StoreClosedError:
                        self.close()
                    else:
                        self._next = page.next
                        if not page:
                            await self._woken.wait()
        self.after = page.next
        return None if self._closed else page

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> MemoryEvent:
        if not self._read:
            self._read.extend(await self.page() or ())
        if self._closed or not self._read:
            raise StopAsyncIteration
        event = self._read.popleft()
        self.after = event.id
        return event

    def close(self) -> None:
        """End the iteration. For the thread of the event loop."""
        self._closed = True
        if self._stop is not None:
            self._stop()
        self._woken.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSemanticMemory:
    """A `SemanticMemory` whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: SemanticMemory) -> None:
        self.blocking = blocking
        """The memory that does the work."""

    @classmethod
    async def open(cls, data_dir: str | Path | None = None, **parts: Any) -> Self:
        """Open a store; takes and raises what `SemanticMemory.open` does."""
        return cls(await asyncio.to_thread(partial(SemanticMemory.open, data_dir, **parts)))

    @classmethod
    async def connect(
        cls, data_dir: str | Path | None = None, *, settings: Settings | None = None, **parts: Any
    ) -> AsyncClient:
        """Return a client of a store that several processes use, as `SemanticMemory.connect`."""
        from semantic_memory.bootstrap import Parts
        from semantic_memory.entrypoints.shared import connect_async
        from semantic_memory.settings import located

        chosen = located(data_dir, settings)
        return await asyncio.to_thread(connect_async, chosen, Parts(**parts))

    @property
    def items(self) -> AsyncItems:
        """The items: JSON values under exact keys, beside the facts."""
        return AsyncItems(self.blocking.items)

    @property
    def beliefs(self) -> AsyncBeliefs:
        """The review of what newer statements ended, or perhaps changed."""
        return AsyncBeliefs(self.blocking.beliefs)

    observe = _threaded(SemanticMemory.observe)
    add = _threaded(SemanticMemory.add)
    add_many = _threaded(SemanticMemory.add_many)
    flush = _threaded(SemanticMemory.flush)
    search = _threaded(SemanticMemory.search)
    context = _threaded(SemanticMemory.context)
    get = _threaded(SemanticMemory.get)
    list = _threaded(SemanticMemory.list)
    tags = _threaded(SemanticMemory.tags)
    update = _threaded(SemanticMemory.update)  # type: ignore[arg-type]  # **changes could hold a self
    delete = _threaded(SemanticMemory.delete)
    restore = _threaded(SemanticMemory.restore)
    history = _threaded(SemanticMemory.history)
    profile = _threaded(SemanticMemory.profile)
    update_profile = _threaded(SemanticMemory.update_profile)
    profile_history = _threaded(SemanticMemory.profile_history)
    audit = _threaded(SemanticMemory.audit)
    explain = _threaded(SemanticMemory.explain)
    layout = _threaded(SemanticMemory.layout)
    sessions = _threaded(SemanticMemory.sessions)
    configure_session = _threaded(SemanticMemory.configure_session)
    create_session = _threaded(SemanticMemory.create_session)
    load_session = _threaded(SemanticMemory.load_session)
    close_session = _threaded(SemanticMemory.close_session)
    messages = _threaded(SemanticMemory.messages)
    pop = _threaded(SemanticMemory.pop)
    forget = _threaded(SemanticMemory.forget)
    verify_receipt = _threaded(SemanticMemory.verify_receipt)
    requests = _threaded(SemanticMemory.requests)
    settle_request = _threaded(SemanticMemory.settle_request)
    load = _threaded(SemanticMemory.load)
    to_dict = _threaded(SemanticMemory.to_dict)
    from_dict = _threaded(SemanticMemory.from_dict)
    events = _threaded(SemanticMemory.events)
    users = _threaded(SemanticMemory.users)
    stats = _threaded(SemanticMemory.stats)
    check = _threaded(SemanticMemory.check)
    maintain = _threaded(SemanticMemory.maintain)
    runs = _threaded(SemanticMemory.runs)
    rebuild = _threaded(SemanticMemory.rebuild)
    close = _threaded(SemanticMemory.close)

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
        records = self.blocking.export(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
        )
        while (record := await asyncio.to_thread(next, records, None)) is not None:
            yield record

    async def subscribe(
        self,
        *,
        after: int | Literal["now"] = NOW,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
    ) -> AsyncSubscription:
        """Follow what changes in the memory: an asynchronous iterator, else as `subscribe`."""
        follow = partial(self.blocking.subscribe, after=after, user_id=user_id, kinds=kinds)
        return AsyncSubscription(await asyncio.to_thread(follow))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
