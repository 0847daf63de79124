"""Context managers that close themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Self


class Closing(ABC):
    """An object that is closed at the end of a `with` statement."""

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncClosing(ABC):
    """An object that is closed at the end of an `async with` statement."""

    @abstractmethod
    def close(self) -> Awaitable[None]:
        """Release what it holds."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()
