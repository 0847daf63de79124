"""Bodies of the service beyond the requests and values of `semantic_memory.domain`.

A body is the verb's request. Where a request may be of any size, a subclass here limits it to the
work that one HTTP request may ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticKnownError

from semantic_memory.domain import fields, reports
from semantic_memory.domain.chat import messages_of
from semantic_memory.domain.facts import Fact, FactVersion
from semantic_memory.domain.feed import MemoryEvent
from semantic_memory.domain.fields import MOST_ITEMS
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.messages import Message, SessionInfo, SessionMessage
from semantic_memory.domain.profile import Line
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.reports import Proof, TagCount
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


class ApiMessage(BaseModel):
    """A message of OpenAI's or Anthropic's APIs, as it is."""

    model_config = ConfigDict(extra="allow")

    role: Literal["user", "assistant", "system", "tool", "developer", "function"]
    content: str | list[str | dict[str, Any]] | None = None


def _limited(given: Any) -> Any:
    """Refuse a list of too few or too many messages, before any is read."""
    if isinstance(given, list):
        actual = {"field_type": "List", "actual_length": len(given)}
        if not given:
            raise PydanticKnownError("too_short", actual | {"min_length": 1})
        if len(given) > MOST_ITEMS:
            raise PydanticKnownError("too_long", actual | {"max_length": MOST_ITEMS})
    return given


class ObserveBody(ObserveRequest):
    """Messages of a conversation."""

    messages: Annotated[
        list[SessionMessage | Message],
        BeforeValidator(messages_of),
        BeforeValidator(_limited, json_schema_input_type=list[SessionMessage | ApiMessage]),
    ] = Field(
        description=fields.MESSAGES, json_schema_extra={"minItems": 1, "maxItems": MOST_ITEMS}
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
    proof: Proof | None = None
    """The outcome of a search for what was forgotten, if that was asked for."""
    items: int = 0
    """The number of items that go with everything of the user."""
    warning: str = ""
    """Why a dry run would be refused without `force`."""
    kept_in: list[str] = Field(default_factory=list)
    """Profile fields and items, written by hand, that hold the subject and stay."""


class Written(Value):
    """The id of what was written, for a key without the right to read."""

    id: str


class WrittenItems(Value):
    """The ids of what was written, in order, for a key without the right to read."""

    items: list[Written]


class Loaded(Value):
    """The number of records that were new, and the ids that couldn't be kept."""

    new: int
    renamed: Mapping[str, str] = Field(default_factory=dict)
    """Ids in the records that weren't free, each with the id in its place; left out if there
    are none."""

    @classmethod
    def of(cls, found: reports.Loaded) -> Self:
        """Return the body of an outcome."""
        return cls(new=int(found), renamed=found.renamed)


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


class Tags(Items[TagCount]):
    """Tags, by name."""


class Requests(Items[RequestToForget]):
    """Requests to forget, the latest first."""


class Prompts(Items[PromptRecord]):
    """Records of prompts, the latest block first."""


class Messages(Items[Message]):
    """Messages, in the order in which they were said."""


class History(Items[FactVersion]):
    """The states of a memory, oldest first."""


class Lines(Items[Line]):
    """The texts of a field of a profile, in order."""


class Events(Items[MemoryEvent]):
    """Events, in the order of the changes."""

    next: int
    """The `after` that continues after them."""


class State(Value):
    """The state of the service."""

    status: str
    version: str
