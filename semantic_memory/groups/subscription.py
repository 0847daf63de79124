"""The feed of changes for asynchronous programs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from semantic_memory.domain.errors import StoreClosedError
from semantic_memory.domain.feed import EventPage, MemoryEvent

if TYPE_CHECKING:  # it would load the parts
    from semantic_memory.application.feed import Subscription


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

    async def __aexit__(self, *raised: object) -> None:
        self.close()
