"""Methods made of a request type and a use case."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from semantic_memory.domain.requests import Request
from semantic_memory.domain.requests.base import as_method, built

if TYPE_CHECKING:  # it would load all parts
    from semantic_memory.bootstrap import UseCases

P = ParamSpec("P")
T = TypeVar("T")
RequestT = TypeVar("RequestT", bound=Request)


class Holder(Protocol):
    """Holds the use cases of an open store."""

    @property
    def _parts(self) -> Callable[[], UseCases]: ...


HolderT = TypeVar("HolderT", bound=Holder)


class Group:
    """Some methods of a memory. Thread-safe."""

    def __init__(self, parts: Callable[[], UseCases]) -> None:
        self._parts = parts


def verb(
    build: Callable[P, RequestT], use: Callable[[UseCases], Callable[[RequestT], T]]
) -> Callable[Concatenate[HolderT, P], T]:
    """Make a method that builds a request and hands it to a use case."""

    def method(self: HolderT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        asked = built(build, *args, **kwargs)
        return use(self._parts())(asked)

    return as_method(method, build)
