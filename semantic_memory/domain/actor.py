"""The API key of the present call, for the audit of forgetting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_key: ContextVar[str | None] = ContextVar("key", default=None)


def actor() -> str | None:
    """Return the name of the API key; None outside a service or without keys."""
    return _key.get()


@contextmanager
def acting(key: str | None) -> Iterator[None]:
    """Make the calls of the body in the name of an API key."""
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)
