"""The request with an idempotency key that the present call works on.

The transaction that has the request's effect marks it as done, so that the worker that repeats it,
after a kill before the answer, knows that it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

Mark = Callable[[Any], None]
"""Marks a request as done on the connection of a transaction. Raises if it is another worker's."""


@dataclass(frozen=True, slots=True)
class _Request:
    mark: Mark | None = None
    done: bool = False
    effective: bool = False


_NONE = _Request()
_request: ContextVar[_Request] = ContextVar("request", default=_NONE)


def already_done() -> bool:
    """Return True if the effect of this request was committed before, and its answer lost."""
    return _request.get().done


def mark_done(transaction: Any) -> None:
    """Mark the request as done if this transaction has its effect."""
    request = _request.get()
    if request.effective and request.mark is not None:
        request.mark(transaction)


@contextmanager
def effect() -> Iterator[None]:
    """Have the transactions in the body mark the request, if there is one."""
    with _being(replace(_request.get(), effective=True)):
        yield


@contextmanager
def working(mark: Mark | None, *, done: bool) -> Iterator[None]:
    """Work on a request in the body; `done` if its effect was committed before."""
    with _being(_Request(mark, done)):
        yield


@contextmanager
def _being(request: _Request) -> Iterator[None]:
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)
