"""The facade for asynchronous programs: each method runs on a thread of its own.

from semantic_memory.aio import AsyncSemanticMemory

async with await AsyncSemanticMemory.open("memory") as memory:
    await memory.add("Prefers tea", user_id="maya")
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from semantic_memory.domain.filters import FilterLike
from semantic_memory.memory import SemanticMemory

P = ParamSpec("P")
T = TypeVar("T")


def _threaded(
    verb: Callable[Concatenate[SemanticMemory, P], T],
) -> Callable[Concatenate[AsyncSemanticMemory, P], Awaitable[T]]:
    @wraps(verb)
    async def method(self: AsyncSemanticMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(verb, self.blocking, *args, **kwargs)

    method.__signature__ = inspect.signature(verb)  # type: ignore[attr-defined]
    return method


class AsyncSemanticMemory:
    """A `SemanticMemory` whose methods are awaited; they take and return the same."""

    def __init__(self, blocking: SemanticMemory) -> None:
        self.blocking = blocking
        """The memory that does the work."""

    @classmethod
    async def open(cls, data_dir: str | Path | None = None, **parts: Any) -> Self:
        """Open a store; takes and raises what `SemanticMemory.open` does."""
        return cls(await asyncio.to_thread(partial(SemanticMemory.open, data_dir, **parts)))

    observe = _threaded(SemanticMemory.observe)
    add = _threaded(SemanticMemory.add)
    add_many = _threaded(SemanticMemory.add_many)
    flush = _threaded(SemanticMemory.flush)
    search = _threaded(SemanticMemory.search)
    context = _threaded(SemanticMemory.context)
    get = _threaded(SemanticMemory.get)
    list = _threaded(SemanticMemory.list)
    update = _threaded(SemanticMemory.update)  # type: ignore[arg-type]  # **changes could hold a self
    delete = _threaded(SemanticMemory.delete)
    restore = _threaded(SemanticMemory.restore)
    history = _threaded(SemanticMemory.history)
    profile = _threaded(SemanticMemory.profile)
    update_profile = _threaded(SemanticMemory.update_profile)
    profile_history = _threaded(SemanticMemory.profile_history)
    explain = _threaded(SemanticMemory.explain)
    layout = _threaded(SemanticMemory.layout)
    sessions = _threaded(SemanticMemory.sessions)
    configure_session = _threaded(SemanticMemory.configure_session)
    create_session = _threaded(SemanticMemory.create_session)
    load_session = _threaded(SemanticMemory.load_session)
    close_session = _threaded(SemanticMemory.close_session)
    messages = _threaded(SemanticMemory.messages)
    forget = _threaded(SemanticMemory.forget)
    load = _threaded(SemanticMemory.load)
    to_dict = _threaded(SemanticMemory.to_dict)
    from_dict = _threaded(SemanticMemory.from_dict)
    users = _threaded(SemanticMemory.users)
    stats = _threaded(SemanticMemory.stats)
    check = _threaded(SemanticMemory.check)
    maintain = _threaded(SemanticMemory.maintain)
    runs = _threaded(SemanticMemory.runs)
    rebuild = _threaded(SemanticMemory.rebuild)
    close = _threaded(SemanticMemory.close)

    async def export(
        self, *, user_id: str, session_id: str | None = None, filters: FilterLike = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield a user's memory, one session's or what passes `filters`, as JSON-like records."""
        records = self.blocking.export(user_id=user_id, session_id=session_id, filters=filters)
        while (record := await asyncio.to_thread(next, records, None)) is not None:
            yield record

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
