"""The facade for asynchronous programs: each method runs on a thread of its own.

from semantic_memory.aio import AsyncSemanticMemory

async with await AsyncSemanticMemory.open("memory") as memory:
    await memory.add("Prefers tea", user_id="maya")
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from semantic_memory.domain.closing import AsyncClosing
from semantic_memory.groups.awaited import (
    AsyncAdmin,
    AsyncEvents,
    AsyncHistory,
    AsyncItems,
    AsyncJobs,
    AsyncProfiles,
    AsyncSessions,
    AsyncTransfers,
    threaded,
)
from semantic_memory.memory import PartsGiven, SemanticMemory

if TYPE_CHECKING:
    from semantic_memory.client import AsyncClient
    from semantic_memory.settings import Settings


class AsyncSemanticMemory(AsyncClosing):
    """A `SemanticMemory` whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: SemanticMemory) -> None:
        self.blocking = blocking
        """The memory that does the work."""

    @classmethod
    async def open(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        **parts: Unpack[PartsGiven],
    ) -> Self:
        """Open a store; takes and raises what `SemanticMemory.open` does."""
        opening = partial(SemanticMemory.open, data_dir, settings=settings, **parts)
        return cls(await asyncio.to_thread(opening))

    @classmethod
    async def connect(
        cls,
        data_dir: str | Path | None = None,
        *,
        settings: Settings | None = None,
        **parts: Unpack[PartsGiven],
    ) -> AsyncClient:
        """Return a client of a store that several processes use, as `SemanticMemory.connect`."""
        from semantic_memory.bootstrap import Parts
        from semantic_memory.entrypoints.shared import connect_async
        from semantic_memory.settings import located

        chosen = located(data_dir, settings)
        return await asyncio.to_thread(connect_async, chosen, Parts(**parts))

    observe = threaded(SemanticMemory.observe)
    add = threaded(SemanticMemory.add)
    search = threaded(SemanticMemory.search)
    context = threaded(SemanticMemory.context)
    get = threaded(SemanticMemory.get)
    list = threaded(SemanticMemory.list)
    update = threaded(SemanticMemory.update)
    delete = threaded(SemanticMemory.delete)
    forget = threaded(SemanticMemory.forget)
    flush = threaded(SemanticMemory.flush)
    close = threaded(SemanticMemory.close)

    @property
    def sessions(self) -> AsyncSessions:
        """The sessions of users: options, messages, a model's window."""
        return AsyncSessions(self.blocking.sessions)

    @property
    def profile(self) -> AsyncProfiles:
        """The profile of a user, and the topics of their memories."""
        return AsyncProfiles(self.blocking.profile)

    @property
    def history(self) -> AsyncHistory:
        """The versions of memories, and the review of changes."""
        return AsyncHistory(self.blocking.history)

    @property
    def transfer(self) -> AsyncTransfers:
        """Many memories at once: export, load, add."""
        return AsyncTransfers(self.blocking.transfer)

    @property
    def events(self) -> AsyncEvents:
        """The feed of changes, in their order."""
        return AsyncEvents(self.blocking.events)

    @property
    def jobs(self) -> AsyncJobs:
        """Maintenance jobs."""
        return AsyncJobs(self.blocking.jobs)

    @property
    def admin(self) -> AsyncAdmin:
        """The store as a whole, for its operator."""
        return AsyncAdmin(self.blocking.admin)

    @property
    def items(self) -> AsyncItems:
        """JSON values under exact keys, beside the facts."""
        return AsyncItems(self.blocking.items)
