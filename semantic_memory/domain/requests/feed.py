"""Requests for the feed of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field

from semantic_memory.domain import fields
from semantic_memory.domain.feed import NOW, EventKind
from semantic_memory.domain.requests.base import Request, number, several
from semantic_memory.domain.values import Count, Identifier, Value, no_boolean

_Number = Annotated[int, Field(ge=0, le=fields.MOST_NUMBER), BeforeValidator(no_boolean)]
Place = _Number | Literal["now"]
"""The number of an event, 0 before the first one, or behind the latest one."""


class _OfFeed(Value):
    user_id: Identifier | None = Field(None, description=fields.ONE_USER)
    kinds: list[EventKind] = Field(
        default=[], max_length=len(EventKind), description=fields.EVENT_KINDS
    )


class EventsRequest(_OfFeed, Request):
    """Return what changed in the memory, in its order: ids, kinds and actions, and no texts.

    Kinds are observed, added, updated, superseded, forgotten and extracted. The `next` of the
    page as `after` continues after it, also after a restart; a page without events is the end.
    With `after="now"` it holds none, and `next` is where later ones begin. Raises
    InvalidInputError for an `after` that this store hasn't reached.
    """

    verb: ClassVar[str] = "events.list"

    after: Place = Field(0, description=fields.AFTER_EVENT)
    limit: Count = number(fields.EVENTS)

    @classmethod
    def of(
        cls,
        *,
        after: int | Literal["now"] = 0,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
        limit: int = fields.EVENTS.default,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        named = [*several(kinds, f"{cls.verb}: kinds")]
        return cls.parsed(after=after, user_id=user_id, kinds=named, limit=limit)


class SubscribeRequest(_OfFeed, Request):
    """Follow what changes in the memory: an iterator that waits for the next event.

    Begins with the call, or behind the event `after`: the `id` of the last one that was dealt
    with, for a reader that was away. Ends when it or the memory is closed; it is a context
    manager. Nothing is lost however slowly it is read, as the events wait in the ledger.
    """

    verb: ClassVar[str] = "events.subscribe"

    after: Place = Field(NOW, description=fields.AFTER_EVENT)

    @classmethod
    def of(
        cls,
        *,
        after: int | Literal["now"] = NOW,
        user_id: str | None = None,
        kinds: Sequence[EventKind | str] = (),
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        named = [*several(kinds, f"{cls.verb}: kinds")]
        return cls.parsed(after=after, user_id=user_id, kinds=named)


class FeedQuery(_OfFeed):
    """Either request as the parameters of a URL, where a stream and a page begin elsewhere."""

    after: Place | None = Field(None, description=fields.AFTER_EVENT)
    limit: Count = number(fields.EVENTS)
