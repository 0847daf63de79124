"""Bodies of the service beyond the requests and values of `semantic_memory.domain`.

A body is the verb's request. Where a request may be of any size, a subclass here limits it to the
work that one HTTP request may ask for.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Fact, FactVersion
from semantic_memory.domain.fields import MOST_ITEMS
from semantic_memory.domain.messages import Message, SessionInfo
from semantic_memory.domain.profile import Line
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.requests import (
    AddManyRequest,
    ContextRequest,
    NewFact,
    ObserveRequest,
)
from semantic_memory.domain.requests.base import Whole, number
from semantic_memory.domain.values import Value

MOST_BUDGET = 1_000_000

ItemT = TypeVar("ItemT")


class ObserveBody(ObserveRequest):
    """Messages of a conversation."""

    messages: list[Message] = Field(
        min_length=1, max_length=MOST_ITEMS, description=fields.MESSAGES
    )


class AddManyBody(AddManyRequest):
    """Facts to add."""

    items: list[NewFact] = Field(min_length=1, max_length=MOST_ITEMS)


class ContextBody(ContextRequest):
    """A question, and the size of the block that helps with it."""

    budget: Whole = number(fields.BUDGET._replace(most=MOST_BUDGET))


class Forgotten(Value):
    """The number of memories that were forgotten, or that a dry run would forget."""

    forgotten: int
    memories: list[Fact] = Field(default_factory=list)
    """The newest of them, after a dry run."""
    sentences: list[str] = Field(default_factory=list)
    """Those that messages lose which are kept."""


class Loaded(Value):
    """The number of records that were new."""

    new: int


class Indexed(Value):
    """The size of a rebuilt index."""

    indexed: int


class Items(Value, Generic[ItemT]):
    """A list of values."""

    items: list[ItemT]


class Page(Items[Fact]):
    """Memories, newest first unless the query sorts them otherwise."""

    next: str | None = None
    """The `cursor` of the next page; null at the end."""


class Hits(Items[Hit]):
    """Found memories, best first."""


class Facts(Items[Fact]):
    """Memories, in the order in which they were given."""


class Sessions(Items[SessionInfo]):
    """Sessions, the one with the latest message first."""


class Messages(Items[Message]):
    """Messages, in the order in which they were said."""


class History(Items[FactVersion]):
    """The states of a memory, oldest first."""


class Lines(Items[Line]):
    """The texts of a field of a profile, in order."""


class State(Value):
    """The state of the service."""

    status: str
    version: str
