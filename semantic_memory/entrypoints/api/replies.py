"""Answers that are kept, to be given again to a request that is sent again."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, Protocol

from semantic_memory.domain.events import Event
from semantic_memory.domain.once import Mark

KEPT_SECONDS = 86_400.0
PURGE_EVERY = 1_000
"""Number of answers kept between two removals of old ones."""
WITHDRAWN = 410
"""Status of an answer whose text was erased."""


class Reply(NamedTuple):
    """A response to send again."""

    fingerprint: str
    status: int
    media_type: str
    body: bytes


class Turn(Enum):
    """The worker on a request that has no answer yet."""

    OURS = auto()
    """The caller is to work on it, and to call `keep` or `end` then."""
    AGAIN = auto()
    """As OURS, of a worker that was killed between its changes and the answer."""
    TAKEN = auto()
    """Another one works on it."""


class Replies(Protocol):
    """The answers of the last day, by the names of their requests. Thread-safe."""

    def begin(self, name: str) -> Reply | Turn:
        """Return the earlier answer, or who works on the request."""
        ...

    def marking(self, name: str) -> Mark | None:
        """Return how the transaction that makes a request's changes marks it as done."""
        ...

    def keep(self, name: str, reply: Reply) -> None:
        """Remember the answer of a request that `begin` let through, and end it."""
        ...

    def end(self, name: str) -> None:
        """End a request without an answer; nothing happens if it has ended."""
        ...

    def withdraw(self, event: Event) -> None:
        """Erase the answers with memories of a user who has something forgotten; an `Observer`.

        Those that are still worked on are kept without their text. Requests of withdrawn answers
        aren't worked on again: they are answered with 410.
        """
        ...
